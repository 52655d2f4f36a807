;; Writes the bytes from $from to $to as the inside of a JSON string, from $at on; answers where it ends.
;; $letters is a table of 256 bytes: what follows the backslash for each byte that cannot stand as it is, or 0;
;; behind a "u" come four digits. Sixteen bytes are stored at once, so what lies up to 15 bytes behind the end is overwritten.
(module
  (import "m" "m" (memory 0))
  (func (export "f") (param $from i32) (param $to i32) (param $at i32) (param $letters i32) (result i32)
    (local $mask i32) (local $byte i32) (local $letter i32) (local $block v128)
    (loop $next
      ;; Sixteen at once, as far as the first of them that cannot stand as it is.
      (if (i32.le_u (i32.add (local.get $from) (i32.const 16)) (local.get $to))
        (then
          (v128.store align=1 (local.get $at) (local.tee $block (v128.load align=1 (local.get $from))))
          (local.set $mask
            (i8x16.bitmask
              (v128.or
                (i8x16.lt_u (local.get $block) (i8x16.splat (i32.const 0x20)))
                (v128.or
                  (i8x16.eq (local.get $block) (i8x16.splat (i32.const 0x22)))
                  (i8x16.eq (local.get $block) (i8x16.splat (i32.const 0x5c)))))))
          (local.set $byte (i32.ctz (i32.or (local.get $mask) (i32.const 0x10000))))
          (local.set $from (i32.add (local.get $from) (local.get $byte)))
          (local.set $at (i32.add (local.get $at) (local.get $byte)))
          (br_if $next (i32.eqz (local.get $mask)))))
      ;; One by itself.
      (if (i32.lt_u (local.get $from) (local.get $to))
        (then
          (local.set $byte (i32.load8_u (local.get $from)))
          (local.set $from (i32.add (local.get $from) (i32.const 1)))
          (local.set $letter (i32.load8_u (i32.add (local.get $letters) (local.get $byte))))
          (if (i32.eqz (local.get $letter))
            (then
              (i32.store8 (local.get $at) (local.get $byte))
              (local.set $at (i32.add (local.get $at) (i32.const 1))))
            (else
              (i32.store8 (local.get $at) (i32.const 0x5c))
              (i32.store8 offset=1 (local.get $at) (local.get $letter))
              (local.set $at (i32.add (local.get $at) (i32.const 2)))
              (if (i32.eq (local.get $letter) (i32.const 0x75))
                (then
                  (i32.store16 align=1 (local.get $at) (i32.const 0x3030))
                  (i32.store8 offset=2 (local.get $at) (i32.add (i32.const 0x30) (i32.shr_u (local.get $byte) (i32.const 4))))
                  (local.set $byte (i32.and (local.get $byte) (i32.const 15)))
                  (i32.store8 offset=3 (local.get $at)
                    (i32.add (local.get $byte) (select (i32.const 0x57) (i32.const 0x30) (i32.gt_u (local.get $byte) (i32.const 9)))))
                  (local.set $at (i32.add (local.get $at) (i32.const 4)))))))
          (br $next))))
    (local.get $at)))
