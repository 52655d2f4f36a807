# Process 1 of a machine of ssh-machines.ts, in namespaces of its own; the machine ends when its standard input does.
set -eu
me=$1 checkout=$2 sshd=$3 node=$4 claude=$5

mount --make-rprivate /
mount -t proc proc /proc
hostname "$(basename "$me")"
ip link set lo up

# Gathered here first: what is hidden below may be where it comes from.
mount -t tmpfs -o mode=755 tmpfs "$me/opt"
mkdir "$me/opt/app" "$me/opt/machine" "$me/opt/sshd"
mount --bind "$checkout" "$me/opt/app"
mount -o remount,bind,ro "$me/opt/app"
mount --bind "$me" "$me/opt/machine"
mount --bind "$sshd" "$me/opt/sshd"
: >"$me/opt/node"
mount --bind "$node" "$me/opt/node"
: >"$me/opt/claude"
mount --bind "$claude" "$me/opt/claude"
mount --bind "$me/passwd" /etc/passwd
mount --bind "$me/group" /etc/group
mount --rbind "$me/opt" /opt
for folder in home root run tmp; do mount -t tmpfs -o mode=755 tmpfs "/$folder"; done
chmod 1777 /tmp
mkdir /home/dev /run/sshd
mount --bind /opt/machine/home /home/dev

cd /
/opt/sshd/usr/sbin/sshd -D -e -f /opt/machine/sshd_config 2>/opt/machine/sshd.log </dev/null >/dev/null &
/opt/node /opt/app/tests/fixtures/programs/api-forwarder.mjs /opt/machine/api.sock </dev/null >/dev/null 2>/opt/machine/api.log &
echo ready
# The shell reaps what loses its parent meanwhile.
cat >/dev/null
