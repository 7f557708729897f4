import { describe, expect, test } from 'vitest';
import {
  checkEventPatterns,
  isPostedFromFeed,
  matchesEvent,
  subscribesToFeed,
  takesReceivedMail,
} from '../../../core/endpoints/endpoint-events.ts';

describe('matchesEvent', () => {
  test.each([
    [['*'], 'domain.verified', true],
    [['email.bounced'], 'email.bounced', true],
    [['email.bounced'], 'email.delivered', false],
    [['email.*'], 'email.delivered', true],
    [['email.*'], 'thread.read', false],
    [['thread.read', 'email.*'], 'thread.read', true],
  ] as const)('decides for the patterns %j and %s: %s', (patterns, kind, isMatch) => {
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

test('all received mail is asked for by its own pattern', () => {
  expect(checkEventPatterns(['email.received:all'])).toBeNull();
  expect(checkEventPatterns(['email.sent:all'])?.message).toContain('email.received:all');
  expect(subscribesToFeed(['email.received:all'])).toBe(true);
  expect(isPostedFromFeed(['email.received:all'], 'email.received')).toBe(true);
  for (const patterns of [['*'], ['email.*'], ['email.received']])
    expect(isPostedFromFeed(patterns, 'email.received')).toBe(false);
  expect(takesReceivedMail({ events: ['email.received:all'], filter: null }, 'a@b.test')).toBe(true);
  expect(matchesEvent(['email.received:all'], 'email.delivered')).toBe(false);
});
