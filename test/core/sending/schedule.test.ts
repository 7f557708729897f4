import { describe, expect, test } from 'vitest';
import { readSchedule } from '../../../core/sending/schedule.ts';
import { wallToInstant } from '../../../core/shared/time-zone.ts';

const now = new Date('2026-03-06T15:00:00Z');

describe('parses a send time in its zone', () => {
  test.each([
    ['2026-03-07T10:00:00Z', 'UTC', '2026-03-07T10:00:00.000Z'],
    ['2026-03-07T10:00:00.250Z', 'Asia/Tokyo', '2026-03-07T10:00:00.250Z'],
    ['2026-03-07T10:00:00+05:30', 'UTC', '2026-03-07T04:30:00.000Z'],
    ['2026-03-07T10:00:00-0800', 'UTC', '2026-03-07T18:00:00.000Z'],
    ['2026-03-07T10:00', 'Europe/Berlin', '2026-03-07T09:00:00.000Z'],
    ['2026-03-07', 'UTC', '2026-03-07T00:00:00.000Z'],
    ['tomorrow at 9am', 'UTC', '2026-03-07T09:00:00.000Z'],
    // the clocks of New York go forward on 8 March 2026: 9am is then 13:00 UTC, the day before 14:00
    ['tomorrow at 9am', 'America/New_York', '2026-03-07T14:00:00.000Z'],
    ['Sunday at 9am', 'America/New_York', '2026-03-08T13:00:00.000Z'],
    ['in 2 hours', 'America/New_York', '2026-03-06T17:00:00.000Z'],
    ['in 48 hours', 'America/New_York', '2026-03-08T15:00:00.000Z'],
    ['in 90 minutes', 'UTC', '2026-03-06T16:30:00.000Z'],
    ['today at 6:30pm', 'UTC', '2026-03-06T18:30:00.000Z'],
    ['next Monday at 2pm', 'UTC', '2026-03-09T14:00:00.000Z'],
    ['December 25 at noon', 'UTC', '2026-12-25T12:00:00.000Z'],
    ['tomorrow at 14:30', 'Asia/Tokyo', '2026-03-08T05:30:00.000Z'],
    // basic format, and the end of a day
    ['20260307T100000Z', 'Asia/Tokyo', '2026-03-07T10:00:00.000Z'],
    ['20260307T1000', 'Europe/Berlin', '2026-03-07T09:00:00.000Z'],
    ['20260307T100000.5+0530', 'UTC', '2026-03-07T04:30:00.500Z'],
    ['20260307', 'Europe/Berlin', '2026-03-06T23:00:00.000Z'],
    ['2026-03-07T10:00:00+05', 'UTC', '2026-03-07T05:00:00.000Z'],
    ['2026-03-07T24:00:00', 'UTC', '2026-03-08T00:00:00.000Z'],
    ['2026-03-31T24:00', 'Europe/Berlin', '2026-03-31T22:00:00.000Z'],
    ['2026-12-31T24:00:00Z', 'Asia/Tokyo', '2027-01-01T00:00:00.000Z'],
    ['20260307T240000-0500', 'UTC', '2026-03-08T05:00:00.000Z'],
  ])('%s in %s is %s', (text, timeZone, instant) => {
    expect(readSchedule(text, timeZone, now)).toEqual({ at: new Date(instant), refusal: null });
  });
});

describe('rejects a send time', () => {
  test.each([
    ['yesterday at 5pm', 'UTC', 'too soon'],
    ['in 30 seconds', 'UTC', 'too soon'],
    ['2026-03-06T14:59:00Z', 'UTC', 'too soon'],
    ['2028-03-06T14:59:00Z', 'UTC', 'too late'],
    ['first monday of january', 'UTC', 'unreadable'],
    ['when it suits', 'UTC', 'unreadable'],
    ['', 'UTC', 'unreadable'],
    ['2026-02-30T10:00:00Z', 'UTC', 'unreadable'],
    ['2026-03-07T25:00:00Z', 'UTC', 'unreadable'],
    ['2026-03-07T24:00:01Z', 'UTC', 'unreadable'],
    ['2026-03-07T24:30', 'UTC', 'unreadable'],
    ['2026-03-07T10:00+24:00', 'UTC', 'unreadable'],
    ['20260230T100000Z', 'UTC', 'unreadable'],
    ['11.24.2026', 'UTC', 'unreadable'],
    ['31.06.2026 09:00', 'UTC', 'unreadable'],
    ['13/13/2026', 'UTC', 'unreadable'],
    ['tomorrow at 9am\r\nBcc: x@y', 'UTC', 'unreadable'],
    ['tomorrow at 9am', 'Mars/Olympus', 'unknown time zone'],
  ])('%s in %s: %s', (text, timeZone, refusal) => {
    expect(readSchedule(text, timeZone, now)).toEqual({ at: null, refusal });
  });
});

describe('a numeric date', () => {
  test.each([
    ['05.06.2026 09:00', '2026-06-05T09:00:00.000Z'],
    ['5.6.2026 9am', '2026-06-05T09:00:00.000Z'],
    ['05.06.26 09:00', '2026-06-05T09:00:00.000Z'],
    ['at 9am on 05.06.2026', '2026-06-05T09:00:00.000Z'],
    ['24.11.2026 09:00', '2026-11-24T09:00:00.000Z'],
  ])('with dots has the day first: %s', (text, instant) => {
    expect(readSchedule(text, 'UTC', now)).toEqual({ at: new Date(instant), refusal: null });
  });

  test.each([
    ['24/11/2026 09:00', '2026-11-24T09:00:00.000Z'],
    ['11/24/2026 09:00', '2026-11-24T09:00:00.000Z'],
    ['11-24-2026 09:00', '2026-11-24T09:00:00.000Z'],
    ['06/06/2026 9am', '2026-06-06T09:00:00.000Z'],
    ['25/12 at noon', '2026-12-25T12:00:00.000Z'],
    ['2026/06/05 09:00', '2026-06-05T09:00:00.000Z'],
  ])('with one interpretation is accepted: %s', (text, instant) => {
    expect(readSchedule(text, 'UTC', now)).toEqual({ at: new Date(instant), refusal: null });
  });

  test.each([
    ['05/06/2026 09:00', 'UTC', ['2026-05-06T09:00:00Z', '2026-06-05T09:00:00Z']],
    ['5/6 at 9am', 'Europe/Berlin', ['2026-05-06T09:00:00+02:00', '2026-06-05T09:00:00+02:00']],
    ['05-06-2026 9:30', 'Asia/Kolkata', ['2026-05-06T09:30:00+05:30', '2026-06-05T09:30:00+05:30']],
    ['4/11/2026 9am', 'America/New_York', ['2026-04-11T09:00:00-04:00', '2026-11-04T09:00:00-05:00']],
    // one of the two readings is out of bounds, and yet it may be the one that was meant
    ['02/04/2026 09:00', 'UTC', ['2026-02-04T09:00:00Z', '2026-04-02T09:00:00Z']],
  ])('with two interpretations is rejected, with both in ISO 8601: %s in %s', (text, timeZone, readings) => {
    expect(readSchedule(text, timeZone, now)).toEqual({ at: null, refusal: 'ambiguous', readings });
    for (const reading of readings) {
      const { refusal } = readSchedule(reading, 'Asia/Tokyo', now);
      expect(refusal).toBe(Date.parse(reading) < now.getTime() ? 'too soon' : null);
    }
  });
});

test('a local time in a DST gap moves forward by the gap, in an overlap it is the first', () => {
  expect(wallToInstant('2026-03-08T02:30:00', 'America/New_York')).toEqual(new Date('2026-03-08T07:30:00Z'));
  expect(wallToInstant('2026-11-01T01:30:00', 'America/New_York')).toEqual(new Date('2026-11-01T05:30:00Z'));
  expect(wallToInstant('2026-04-05T01:45:00', 'Australia/Lord_Howe')).toEqual(new Date('2026-04-04T14:45:00Z'));
});

test('every local time outside transitions converts back to itself', () => {
  for (const timeZone of ['America/New_York', 'Europe/Berlin', 'Asia/Kolkata', 'Australia/Lord_Howe', 'Pacific/Apia']) {
    const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
    for (let hours = 0; hours < 2 * 8760; hours += 7) {
      const instant = new Date(Date.UTC(2026, 0, 1) + hours * 3_600_000);
      const wall = format.format(instant).replace(' ', 'T');
      const back = wallToInstant(wall, timeZone);
      expect(back === null ? null : format.format(back).replace(' ', 'T'), `${wall} ${timeZone}`).toBe(wall);
    }
  }
});

describe('DST transitions and leap days, as users write them', () => {
  test.each([
    // 02:30 does not exist in New York on 8 March 2026, and 01:30 comes twice on 1 November
    ['2026-03-08T02:30', 'America/New_York', now, '2026-03-08T07:30:00.000Z'],
    ['Sunday at 2:30am', 'America/New_York', now, '2026-03-08T07:30:00.000Z'],
    ['2026-03-29T02:30:00', 'Europe/Berlin', now, '2026-03-29T01:30:00.000Z'],
    ['November 1 at 1:30am', 'America/New_York', now, '2026-11-01T05:30:00.000Z'],
    ['2026-10-25T02:30:00', 'Europe/Berlin', now, '2026-10-25T00:30:00.000Z'],
    ['in 1 hour', 'America/New_York', new Date('2026-11-01T05:30:00Z'), '2026-11-01T06:30:00.000Z'],
    ['2028-02-29T09:00', 'UTC', new Date('2028-02-01T00:00:00Z'), '2028-02-29T09:00:00.000Z'],
    ['February 29 at 9am', 'UTC', new Date('2028-02-01T00:00:00Z'), '2028-02-29T09:00:00.000Z'],
    ['tomorrow at 9am', 'UTC', new Date('2028-02-28T12:00:00Z'), '2028-02-29T09:00:00.000Z'],
    ['tomorrow at 9am', 'Asia/Tokyo', new Date('2028-02-28T16:00:00Z'), '2028-03-01T00:00:00.000Z'],
  ])('are converted: %s in %s', (text, timeZone, at, instant) => {
    expect(readSchedule(text, timeZone, at)).toEqual({ at: new Date(instant), refusal: null });
  });

  test('rejects February 29 in a year without it', () => {
    expect(readSchedule('2027-02-29T09:00', 'UTC', new Date('2027-02-01T00:00:00Z')).refusal).toBe('unreadable');
  });

  test('accepts a minute ahead and 366 days ahead, to the millisecond', () => {
    const refusalAt = (aheadMs: number) =>
      readSchedule(new Date(now.getTime() + aheadMs).toISOString(), 'UTC', now).refusal;
    expect([60_000, 59_999, 366 * 86_400_000, 366 * 86_400_000 + 1].map(refusalAt)).toEqual([
      null,
      'too soon',
      null,
      'too late',
    ]);
  });
});
