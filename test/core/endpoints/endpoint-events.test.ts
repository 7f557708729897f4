import { describe, expect, test } from 'vitest';
import { checkEventPatterns, matchesEvent } from '../../../core/endpoints/endpoint-events.ts';

describe('matchesEvent', () => {
  test.each([
    [['*'], 'domain.verified', true],
    [['email.bounced'], 'email.bounced', true],
    [['email.bounced'], 'email.delivered', false],
    [['email.*'], 'email.delivered', true],
    [['email.*'], 'thread.read', false],
    [['thread.read', 'email.*'], 'thread.read', true],
  ] as const)('%j and %s: %s', (patterns, kind, isMatch) => {
    expect(matchesEvent(patterns, kind)).toBe(isMatch);
  });
});

describe('checkEventPatterns', () => {
  test.each([[['*']], [['email.received', 'dmarc.*']], [['endpoint.*', 'domain.*', 'thread.*', 'delivery.*']]])(
    'accepts %j',
    (patterns) => {
      expect(checkEventPatterns(patterns)).toBeNull();
    },
  );

  test('names the first unknown pattern and what is allowed', () => {
    expect(checkEventPatterns(['email.*', 'emails.*', 'x'])).toEqual({
      field: 'events[1]',
      message: expect.stringMatching(
        /^`events\[1]` is not a kind of event\. Allowed are: \*, email\.\*, .*email\.bounced/,
      ),
    });
  });
});
