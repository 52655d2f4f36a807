import type { QuestionView } from '../../src/board/state.js';
import { visible } from '../text/visible.js';

/** Each question to its answer: labels joined by `, `, or own words. */
export type Answers = Readonly<Record<string, string>>;

interface QuestionsProps {
  readonly questions: readonly QuestionView[];
  readonly answers: Answers;
  readonly onChange: (answers: Answers) => void;
}

/** Questions with options and room for own words. */
export function Questions({ questions, answers, onChange }: QuestionsProps) {
  return (
    <>
      {questions.map((one) => (
        <Question
          key={one.question}
          question={one}
          answer={answers[one.question] ?? ''}
          onChange={(answer) => onChange({ ...answers, [one.question]: answer })}
        />
      ))}
    </>
  );
}

interface QuestionProps {
  readonly question: QuestionView;
  readonly answer: string;
  readonly onChange: (answer: string) => void;
}

function Question({ question, answer, onChange }: QuestionProps) {
  const labels = question.options.map(({ label }) => label);
  const chosen = answer === '' ? [] : answer.split(', ').filter((label) => labels.includes(label));
  const isOwn = answer !== '' && chosen.join(', ') !== answer;
  const toggle = (label: string): void => {
    if (!question.multi_select) return onChange(label);
    const next = chosen.includes(label) ? chosen.filter((one) => one !== label) : [...chosen, label];
    onChange(labels.filter((one) => next.includes(one)).join(', '));
  };
  return (
    <fieldset class="question-options">
      <legend dir="auto">{visible(question.question)}</legend>
      {question.options.map(({ label, description }) => (
        <label key={label} class="option">
          <input
            type={question.multi_select ? 'checkbox' : 'radio'}
            name={question.question}
            checked={chosen.includes(label)}
            onChange={() => toggle(label)}
          />
          <span dir="auto">
            {visible(label)} {description !== null && <span class="quiet">{visible(description)}</span>}
          </span>
        </label>
      ))}
      <input
        type="text"
        dir="auto"
        placeholder="Own words"
        aria-label={`Own words: ${question.question}`}
        value={isOwn ? answer : ''}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </fieldset>
  );
}
