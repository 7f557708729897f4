import { useState } from 'react';
import { formatCount } from '../../parts/counted.ts';

/** A change of more conversations than this asks first. */
const ASK_ABOVE = 50;

/** A change of many conversations that waits for the user. */
export interface Question {
  title: string;
  about: string;
  confirm: string;
  run: () => void;
}

/** Asks before changes of many conversations, with their number. */
export interface LargeChange {
  /** Runs a change at once, or asks whether to. `action`: such as `Mark # as read`, where # stands for the conversations. */
  ask: (action: string, count: number, run: () => void) => void;
  /** Asks whether to undo a change from before the page was loaded again, which the user may not have meant. */
  askToUndo: (text: string, run: () => void) => void;
  question: Question | null;
  close: () => void;
}

export function useLargeChange(): LargeChange {
  const [question, setQuestion] = useState<Question | null>(null);
  return {
    ask(action, count, run) {
      const confirm = action.replace('#', `${formatCount(count)} conversations`);
      if (count > ASK_ABOVE) setQuestion({ title: `${confirm}?`, about: 'You can undo this for a day.', confirm, run });
      else run();
    },
    askToUndo: (text, run) =>
      setQuestion({ title: 'Undo the last change?', about: `It was: ${text}`, confirm: 'Undo', run }),
    question,
    close: () => setQuestion(null),
  };
}
