;; How many line feeds the bytes from $at to $end hold; $end is behind $at, both are multiples of 16.
(module
  (import "m" "m" (memory 0))
  (func (export "f") (param $at i32) (param $end i32) (result i32)
    (local $feeds i32)
    (loop $next
      (local.set $feeds
        (i32.add
          (local.get $feeds)
          (i32.popcnt (i8x16.bitmask (i8x16.eq (v128.load (local.get $at)) (i8x16.splat (i32.const 0x0a)))))))
      (br_if $next (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 16))) (local.get $end))))
    (local.get $feeds)))
