import type { DecisionView } from '../../src/board/state.js';
import { hasUnseen } from '../../src/base/text.js';
import { Block, useFocus } from './parts.js';

/** A field of a request as it is to be allowed. */
export interface Edit {
  readonly field: string;
  readonly text: string;
}

const fields = ['command', 'new_string', 'content', 'new_source', 'url'];

/** The field that a person may change, as it was asked; undefined where the session takes no other input. */
export function editOf({ kind, can_edit, input_is_cut, input }: DecisionView): Edit | undefined {
  if (kind !== 'permission' || !can_edit || input_is_cut) return undefined;
  const field = fields.find((one) => typeof input[one] === 'string');
  return field === undefined ? undefined : { field, text: String(input[field]) };
}

interface EditBoxProps {
  readonly edit: Edit;
  readonly onChange: (edit: Edit) => void;
}

/** What will be allowed instead. */
export function EditBox({ edit, onChange }: EditBoxProps) {
  const box = useFocus<HTMLTextAreaElement>();
  const label = `${edit.field.replace('_', ' ')}, as it will be allowed`;
  return (
    <>
      <textarea
        class="edit"
        rows={Math.min(12, edit.text.split('\n').length + 1)}
        dir="auto"
        spellcheck={false}
        ref={box}
        aria-label={label}
        value={edit.text}
        onInput={(event) => onChange({ ...edit, text: event.currentTarget.value })}
      />
      {hasUnseen(edit.text) && <Block label="With characters that are not seen" text={edit.text} />}
    </>
  );
}
