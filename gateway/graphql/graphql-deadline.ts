import { errorCodes } from 'fastify';

/** When a request is answered 503, whatever is still under way. */
export interface Deadline {
  /** rejects when the time is over */
  passed: Promise<never>;
  /** Gives it so long from now. Milliseconds. */
  moveTo: (milliseconds: number) => void;
  stop: () => void;
}

export function startDeadline(milliseconds: number): Deadline {
  let timer: NodeJS.Timeout | undefined;
  let fail: (reason: Error) => void = () => undefined;
  const passed = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  passed.catch(() => undefined);
  const moveTo = (limitMs: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => fail(new errorCodes.FST_ERR_HANDLER_TIMEOUT()), limitMs);
  };
  moveTo(milliseconds);
  return { passed, moveTo, stop: () => clearTimeout(timer) };
}
