;; Writes the bytes from $from to $to as the inside of a JSON string, from $at on; answers where it ends.
;; $letters is a table of 256 bytes: what follows the backslash for each byte that cannot stand as it is, or 0;
;; behind a "u" come four digits. Sixteen bytes are stored at once, so what lies up to 15 bytes behind the end is overwritten.
(module
  (import "m" "m" (memory 0))
  (func (export "f") (param $from i32) (param $to i32) (param $at i32) (param $letters i32) (result i32)
    (local $mask i32) (local $byte i32) (local $letter i32)
    (local $a v128) (local $b v128) (local $c v128) (local $d v128)
    (local $control v128) (local $quote v128) (local $backslash v128)
    (local.set $control (i8x16.splat (i32.const 0x1f)))
    (local.set $quote (i8x16.splat (i32.const 0x22)))
    (local.set $backslash (i8x16.splat (i32.const 0x5c)))
    (loop $next
      ;; Sixty-four at once while all of them can stand as they are.
      (block $found
        (loop $far
          (br_if $found (i32.gt_u (i32.add (local.get $from) (i32.const 64)) (local.get $to)))
          (local.set $a (v128.load align=1 (local.get $from)))
          (local.set $b (v128.load offset=16 align=1 (local.get $from)))
          (local.set $c (v128.load offset=32 align=1 (local.get $from)))
          (local.set $d (v128.load offset=48 align=1 (local.get $from)))
          (br_if $found
            (v128.any_true
              (v128.or
                (i8x16.le_u
                  (i8x16.min_u (i8x16.min_u (local.get $a) (local.get $b)) (i8x16.min_u (local.get $c) (local.get $d)))
                  (local.get $control))
                (v128.or
                  (v128.or
                    (v128.or (i8x16.eq (local.get $a) (local.get $quote)) (i8x16.eq (local.get $a) (local.get $backslash)))
                    (v128.or (i8x16.eq (local.get $b) (local.get $quote)) (i8x16.eq (local.get $b) (local.get $backslash))))
                  (v128.or
                    (v128.or (i8x16.eq (local.get $c) (local.get $quote)) (i8x16.eq (local.get $c) (local.get $backslash)))
                    (v128.or (i8x16.eq (local.get $d) (local.get $quote)) (i8x16.eq (local.get $d) (local.get $backslash))))))))
          (v128.store align=1 (local.get $at) (local.get $a))
          (v128.store offset=16 align=1 (local.get $at) (local.get $b))
          (v128.store offset=32 align=1 (local.get $at) (local.get $c))
          (v128.store offset=48 align=1 (local.get $at) (local.get $d))
          (local.set $from (i32.add (local.get $from) (i32.const 64)))
          (local.set $at (i32.add (local.get $at) (i32.const 64)))
          (br $far)))
      ;; Sixteen at once, as far as the first of them that cannot stand as it is.
      (loop $near
        (if (i32.le_u (i32.add (local.get $from) (i32.const 16)) (local.get $to))
          (then
            (v128.store align=1 (local.get $at) (local.tee $a (v128.load align=1 (local.get $from))))
            (local.set $mask
              (i8x16.bitmask
                (v128.or
                  (i8x16.le_u (local.get $a) (local.get $control))
                  (v128.or (i8x16.eq (local.get $a) (local.get $quote)) (i8x16.eq (local.get $a) (local.get $backslash))))))
            (if (i32.eqz (local.get $mask))
              (then
                (local.set $from (i32.add (local.get $from) (i32.const 16)))
                (local.set $at (i32.add (local.get $at) (i32.const 16)))
                (br $near)))
            (local.set $byte (i32.ctz (local.get $mask)))
            (local.set $from (i32.add (local.get $from) (local.get $byte)))
            (local.set $at (i32.add (local.get $at) (local.get $byte)))
            ;; The end of a line, as a terminal has it.
            (if (i32.and
                  (i32.eq (i32.load16_u align=1 (local.get $from)) (i32.const 0x0a0d))
                  (i32.le_u (i32.add (local.get $from) (i32.const 2)) (local.get $to)))
              (then
                (i32.store align=1 (local.get $at) (i32.const 0x6e5c725c))
                (local.set $from (i32.add (local.get $from) (i32.const 2)))
                (local.set $at (i32.add (local.get $at) (i32.const 4)))
                (br $next))))))
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
