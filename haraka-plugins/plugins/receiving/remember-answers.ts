import type { Bus } from '../../../schema/messages.ts';
import type { RecipientVerdict } from './session.ts';

/** How long an accepting verdict is used again, milliseconds (docs: speed of RCPT); dropped at once when routing changes. */
const VERDICT_LIFETIME_MS = 5_000;
const MAX_VERDICTS = 10_000;
/** How long the answer about room is used again, milliseconds. */
const CAPACITY_LIFETIME_MS = 1_000;

/** Asks the receiving actor, and remembers for moments what does not change with the message. */
export interface Questions {
  /** May this forward-path be taken? Rejects as Bus.ask. */
  checkRecipient(recipient: string, reversePath: string): Promise<RecipientVerdict> | RecipientVerdict;
  /** Is there room for a message? Rejects as Bus.ask. */
  hasRoom(): Promise<boolean> | boolean;
  /** Drops what is remembered of recipients. */
  forget(): void;
  stop(): Promise<void>;
}

interface Remembered<T> {
  value: T;
  until: number;
}

/**
 * A verdict hangs on the recipient alone, so it is remembered by it. Only accepting verdicts are remembered: a name that was refused
 * may be created the next moment, and its owner tries at once. Whatever was asked before a change is not remembered after it.
 */
export function rememberAnswers(bus: Bus): Questions {
  let verdicts = new Map<string, Remembered<RecipientVerdict>>();
  let room: Remembered<boolean> | null = null;
  let roomAsked: Promise<boolean> | null = null;
  const forget = (): void => {
    verdicts = new Map();
  };
  const subscription = bus.subscribe('routing.changed', forget);

  const askVerdict = async (recipient: string, reversePath: string): Promise<RecipientVerdict> => {
    const generation = verdicts;
    const value = await bus.ask('receiving.recipient.check', { recipient, reversePath });
    if (value.verdict === 'accept') {
      if (generation.size >= MAX_VERDICTS) generation.clear();
      generation.set(recipient, { value, until: performance.now() + VERDICT_LIFETIME_MS });
    }
    return value;
  };
  const askRoom = async (): Promise<boolean> => {
    try {
      const { hasRoom } = await bus.ask('receiving.capacity.check', {});
      room = { value: hasRoom, until: performance.now() + CAPACITY_LIFETIME_MS };
      return hasRoom;
    } finally {
      roomAsked = null;
    }
  };

  return {
    checkRecipient(recipient, reversePath) {
      const known = verdicts.get(recipient);
      if (known !== undefined && known.until > performance.now()) return known.value;
      return askVerdict(recipient, reversePath);
    },
    hasRoom() {
      if (room !== null && room.until > performance.now()) return room.value;
      roomAsked ??= askRoom();
      return roomAsked;
    },
    forget,
    stop: () => subscription.stop(),
  };
}
