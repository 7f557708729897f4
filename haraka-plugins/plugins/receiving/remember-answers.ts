import type { Bus } from '../../../schema/messages.ts';
import type { RecipientVerdict } from './session.ts';

/** How long an accepting verdict is reused, milliseconds (docs: speed of RCPT); dropped at once when routing changes. */
const VERDICT_LIFETIME_MS = 5_000;
const MAX_VERDICTS = 10_000;
/** How long the answer about disk space is reused, milliseconds. */
const CAPACITY_LIFETIME_MS = 1_000;

/** Asks the receiving actor, and caches answers that do not depend on the message. */
export interface Questions {
  /** Whether mail to this forward-path is accepted. Rejects like Bus.ask. */
  checkRecipient(recipient: string, reversePath: string): Promise<RecipientVerdict> | RecipientVerdict;
  /** Whether there is disk space for a message. Rejects like Bus.ask. */
  hasRoom(): Promise<boolean> | boolean;
  /** Drops cached verdicts on recipients. */
  forget(): void;
  stop(): Promise<void>;
}

interface Remembered<T> {
  value: T;
  until: number;
}

/**
 * A verdict depends on the recipient alone, so it is cached by recipient; that on a reply address also on its sender and its earlier mail. Only accepting verdicts are cached: a refused address may be
 * created the next moment, and its owner tries at once. An answer from before a change is not cached after it.
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
    if (value.verdict === 'accept' && value.replyAddressId === undefined) {
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
