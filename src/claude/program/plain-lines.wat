;; Copies lines from $from to $to, behind a line feed, to $at on, with CR LF as LF; answers where the copy ends.
;; Answers -1 where a person would not read them as they are: a control character (but a tab, or those of UTF-8 that take
;; two bytes), a carriage return that ends no line, a line of more than $most bytes.
;; Sixteen bytes are stored at once, so what lies up to 15 bytes behind the end is overwritten.
(module
  (import "m" "m" (memory 0))
  (func (export "f") (param $from i32) (param $to i32) (param $at i32) (param $most i32) (result i32)
    (local $mask i32) (local $byte i32) (local $line i32) (local $block v128)
    (local.set $line (local.get $at))
    (loop $next
      ;; Sixteen at once, as far as the first of them that is looked at by itself.
      (if (i32.le_u (i32.add (local.get $from) (i32.const 16)) (local.get $to))
        (then
          (v128.store align=1 (local.get $at) (local.tee $block (v128.load align=1 (local.get $from))))
          (local.set $mask
            (i8x16.bitmask
              (v128.or
                (i8x16.lt_u (local.get $block) (i8x16.splat (i32.const 0x20)))
                (v128.or
                  (i8x16.eq (local.get $block) (i8x16.splat (i32.const 0x7f)))
                  (i8x16.eq (local.get $block) (i8x16.splat (i32.const 0xc2)))))))
          (local.set $byte (i32.ctz (i32.or (local.get $mask) (i32.const 0x10000))))
          (local.set $from (i32.add (local.get $from) (local.get $byte)))
          (local.set $at (i32.add (local.get $at) (local.get $byte)))
          (br_if $next (i32.eqz (local.get $mask)))))
      ;; One by itself.
      (if (i32.lt_u (local.get $from) (local.get $to))
        (then
          (local.set $byte (i32.load8_u (local.get $from)))
          (local.set $from (i32.add (local.get $from) (i32.const 1)))
          (if (i32.eq (local.get $byte) (i32.const 0x0d))
            (then
              (if (i32.or
                    (i32.eq (local.get $from) (local.get $to))
                    (i32.ne (i32.load8_u (local.get $from)) (i32.const 0x0a)))
                (then (return (i32.const -1))))
              (br $next)))
          (i32.store8 (local.get $at) (local.get $byte))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (if (i32.eq (local.get $byte) (i32.const 0x0a))
            (then
              (if (i32.gt_u (i32.sub (local.get $at) (local.get $line)) (local.get $most))
                (then (return (i32.const -1))))
              (local.set $line (local.get $at))
              (br $next)))
          (if (i32.eq (local.get $byte) (i32.const 0xc2))
            (then
              (if (i32.or
                    (i32.eq (local.get $from) (local.get $to))
                    (i32.lt_u (i32.load8_u (local.get $from)) (i32.const 0xa0)))
                (then (return (i32.const -1))))
              (br $next)))
          (if (i32.or
                (i32.eq (local.get $byte) (i32.const 0x7f))
                (i32.and
                  (i32.lt_u (local.get $byte) (i32.const 0x20))
                  (i32.ne (local.get $byte) (i32.const 0x09))))
            (then (return (i32.const -1))))
          (br $next))))
    (local.get $at)))
