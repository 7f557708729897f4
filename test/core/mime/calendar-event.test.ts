import { describe, expect, test } from 'vitest';
import { type CalendarEvent, readCalendarEvent } from '../../../core/mime/calendar-event.ts';
import { parseMessage } from '../../../core/mime/parse-message.ts';
import { expectLinearGrowth } from '../../support/growth.ts';
import { CALENDAR_MAILS } from './calendar-mails.ts';
import { base64, oddMail, oddMultipart } from './odd/odd-case.ts';

/** Returns the event of a calendar with these lines of an event, and lines before it. */
function read(lines: readonly string[], before: readonly string[] = [], method: string | null = null) {
  const calendar = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    ...before,
    'BEGIN:VEVENT',
    ...lines,
    'END:VEVENT',
    'END:VCALENDAR',
  ];
  return readCalendarEvent(calendar.join('\r\n'), method);
}

const BERLIN = [
  'BEGIN:VTIMEZONE',
  'TZID:Somewhere',
  'BEGIN:STANDARD',
  'DTSTART:16010101T030000',
  'TZOFFSETFROM:+0200',
  'TZOFFSETTO:+0100',
  'RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10',
  'END:STANDARD',
  'BEGIN:DAYLIGHT',
  'DTSTART:16010101T020000',
  'TZOFFSETFROM:+0100',
  'TZOFFSETTO:+0200',
  'RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3',
  'END:DAYLIGHT',
  'END:VTIMEZONE',
];

test('reads the fields of an invitation', () => {
  const event = read(
    [
      'UID:one@quill.example',
      'SEQUENCE:2',
      'STATUS:CONFIRMED',
      'SUMMARY:Kick-off\\, part 1\\; café',
      'LOCATION:Room 5\\nBerlin',
      'DTSTART;TZID=Europe/Berlin:20261201T100000',
      'DTEND;TZID=Europe/Berlin:20261201T113000',
      'ORGANIZER;CN="Quill, Mara":mailto:mara@quill.example',
      'ATTENDEE;CN=Tom;PARTSTAT=ACCEPTED;ROLE=REQ-PARTICIPANT:MAILTO:tom@quill.example',
      'ATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE;X-NOTE="a:b;c":mailto:eve@quill.exam',
      ' ple',
      'RRULE:FREQ=WEEKLY;BYDAY=TU',
      'BEGIN:VALARM',
      'SUMMARY:Wake up',
      'END:VALARM',
    ],
    ['METHOD:REQUEST'],
  );
  expect(event).toEqual({
    method: 'REQUEST',
    uid: 'one@quill.example',
    sequence: 2,
    status: 'confirmed',
    summary: 'Kick-off, part 1; café',
    location: 'Room 5 Berlin',
    start: '2026-12-01T09:00:00.000Z',
    end: '2026-12-01T10:30:00.000Z',
    timeZone: 'Europe/Berlin',
    isAllDay: false,
    organizer: { name: 'Quill, Mara', address: 'mara@quill.example' },
    attendees: [
      { name: 'Tom', address: 'tom@quill.example', status: 'accepted' },
      { name: null, address: 'eve@quill.example', status: 'needs-action' },
    ],
    recurrence: 'FREQ=WEEKLY;BYDAY=TU',
    recurrenceId: null,
  } satisfies CalendarEvent);
});

describe('the times of an event', () => {
  test.each<[lines: string[], start: string | null, end: string | null, timeZone: string | null]>([
    [
      ['DTSTART:20261201T090000Z', 'DTEND:20261201T100000Z'],
      '2026-12-01T09:00:00.000Z',
      '2026-12-01T10:00:00.000Z',
      'UTC',
    ],
    [['DTSTART:20261201T090000', 'DTEND:20261201T100000'], '2026-12-01T09:00:00', '2026-12-01T10:00:00', null],
    [['DTSTART;VALUE=DATE:20261201', 'DTEND;VALUE=DATE:20261203'], '2026-12-01', '2026-12-03', null],
    [['DTSTART;VALUE=DATE:20261231'], '2026-12-31', '2027-01-01', null],
    [['DTSTART:20261201'], '2026-12-01', '2026-12-02', null],
    [['DTSTART:20261201T090000Z', 'DURATION:PT1H30M'], '2026-12-01T09:00:00.000Z', '2026-12-01T10:30:00.000Z', 'UTC'],
    [['DTSTART:20261201T090000', 'DURATION:PT15M'], '2026-12-01T09:00:00', '2026-12-01T09:15:00', null],
    [['DTSTART;VALUE=DATE:20261201', 'DURATION:P1W'], '2026-12-01', '2026-12-08', null],
    [['DTSTART;TZID=W. Europe Standard Time:20260701T100000'], '2026-07-01T08:00:00.000Z', null, 'Europe/Berlin'],
    [['DTSTART;TZID="Eastern Standard Time":20261201T100000'], '2026-12-01T15:00:00.000Z', null, 'America/New_York'],
    [
      ['DTSTART;TZID=/mozilla.org/20050126_1/Europe/Paris:20261201T100000'],
      '2026-12-01T09:00:00.000Z',
      null,
      'Europe/Paris',
    ],
    [
      ['DTSTART;TZID=America/Argentina/Buenos_Aires:20261201T100000'],
      '2026-12-01T13:00:00.000Z',
      null,
      'America/Argentina/Buenos_Aires',
    ],
    [
      ['DTSTART;TZID="(UTC+01:00) Amsterdam, Berlin, Bern, Rome, Stockholm, Vienna":20261201T100000'],
      '2026-12-01T09:00:00.000Z',
      null,
      'Europe/Berlin',
    ],
    [['DTSTART;TZID=Somewhere:20261201T100000'], '2026-12-01T09:00:00.000Z', null, null],
    [
      ['DTSTART;TZID=Somewhere:20260701T100000', 'DURATION:P1DT1H'],
      '2026-07-01T08:00:00.000Z',
      '2026-07-02T09:00:00.000Z',
      null,
    ],
    [['DTSTART;TZID=Nowhere:20261201T100000'], '2026-12-01T10:00:00', null, null],
    // The clock goes forward between the two.
    [
      ['DTSTART;TZID=Europe/Berlin:20260328T100000', 'DURATION:P1D'],
      '2026-03-28T09:00:00.000Z',
      '2026-03-29T08:00:00.000Z',
      'Europe/Berlin',
    ],
    [['DTSTART:20260230T100000Z'], null, null, null],
    [['DTSTART:tomorrow'], null, null, null],
    [['DTSTART:99991231T235900', 'DURATION:P99999DT999999H'], '9999-12-31T23:59:00', null, null],
    [[], null, null, null],
  ])('%j are read', (lines, start, end, timeZone) => {
    expect(read(lines, BERLIN)).toMatchObject({ start, end, timeZone });
  });
});

test.each([
  [['METHOD:CANCEL'], [], { method: 'CANCEL', status: 'cancelled' }],
  [
    ['METHOD:REPLY'],
    ['ATTENDEE;PARTSTAT=DECLINED:mailto:a@x.test'],
    { method: 'REPLY', attendees: [{ status: 'declined' }] },
  ],
  [['METHOD:COUNTER'], ['STATUS:TENTATIVE'], { method: 'COUNTER', status: 'tentative' }],
  [['METHOD:two words'], ['STATUS:MAYBE'], { method: null, status: null }],
  [[], ['ORGANIZER:invalid:nomail'], { organizer: { address: 'invalid:nomail' } }],
  [[], ['SEQUENCE:-5', 'UID:'], { sequence: 0, uid: null, method: 'PUBLISH' }],
])('with %j and %j the event is as stated', (before, lines, expected) => {
  expect(read(lines, before, 'publish')).toMatchObject(expected);
});

test.each(CALENDAR_MAILS)('reads the event of a usual program: $name', ({ calendar, is }) => {
  expect(readCalendarEvent(calendar, null)).toMatchObject(is);
});

test('prefers the whole series to its occurrences', () => {
  const occurrence = ['SUMMARY:One', 'RECURRENCE-ID:20261208T090000Z', 'DTSTART:20261208T100000Z'];
  const series = ['END:VEVENT', 'BEGIN:VEVENT', 'SUMMARY:All', 'RRULE:FREQ=DAILY'];
  expect(read([...occurrence, ...series])?.summary).toBe('All');
  expect(read(occurrence)).toMatchObject({ summary: 'One', recurrenceId: '2026-12-08T09:00:00.000Z' });
});

test('finds no event in a free-busy reply, a task or noise', () => {
  expect(readCalendarEvent('BEGIN:VCALENDAR\nBEGIN:VTODO\nSUMMARY:x\nEND:VTODO\nEND:VCALENDAR', null)).toBeNull();
  expect(readCalendarEvent('', null)).toBeNull();
  expect(readCalendarEvent('END:VEVENT\nBEGIN\n:::;;;=', null)).toBeNull();
});

test('reads the event of a message: base64, Japanese, and by the name of the file', async () => {
  const calendar =
    'BEGIN:VCALENDAR\nMETHOD:REQUEST\nBEGIN:VEVENT\nSUMMARY:会議\nDTSTART:20261201T090000Z\nEND:VEVENT\nEND:VCALENDAR';
  const encoded = base64(calendar);
  const asAlternative = oddMultipart(
    'alternative',
    ['Content-Type: text/plain', '', 'Hello.'],
    ['Content-Type: text/calendar; method=REQUEST', 'Content-Transfer-Encoding: base64', '', encoded],
  );
  const asFile = oddMail(
    ['Content-Type: application/octet-stream; name="INVITE.ICS"', 'Content-Transfer-Encoding: base64'],
    encoded,
  );
  const asJis = oddMail(
    ['Content-Type: text/calendar; charset=iso-2022-jp; method=REQUEST'],
    calendar.replace('会議', '\x1b$B2q5D\x1b(B'),
  );
  for (const raw of [asAlternative, asFile, asJis]) {
    const { attachments } = await parseMessage(raw);
    expect(attachments.map(({ event }) => event?.summary)).toEqual(['会議']);
  }
  const twice = oddMultipart(
    'mixed',
    ['Content-Type: text/calendar', '', calendar],
    ['Content-Type: text/calendar', '', calendar],
  );
  expect((await parseMessage(twice)).attachments.map(({ event }) => event !== undefined)).toEqual([true, false]);
});

describe('hostile calendars', () => {
  const event = (line: string) => `BEGIN:VCALENDAR\nBEGIN:VEVENT\n${line}\nEND:VEVENT\nEND:VCALENDAR`;

  test.each<[name: string, make: (count: number) => string]>([
    ['events', (count) => 'BEGIN:VEVENT\nSUMMARY:x\nEND:VEVENT\n'.repeat(count)],
    ['nested components', (count) => 'BEGIN:VEVENT\n'.repeat(count)],
    ['folded lines', (count) => event(`SUMMARY:${'x\n '.repeat(count)}`)],
    ['parameters', (count) => event(`ATTENDEE${';A=","'.repeat(count)}:mailto:a@x.test`)],
    ['open quotes', (count) => event(`ATTENDEE;CN=${'"'.repeat(count)}:a`)],
    ['commas', (count) => event(`ATTENDEE;CN=${','.repeat(count)}`)],
    ['attendees', (count) => event('ATTENDEE:mailto:a@x.test\n'.repeat(count))],
    ['zones', (count) => `${'BEGIN:VTIMEZONE\nTZID:a\n'.repeat(count)}${event('DTSTART;TZID=a:20261201T090000')}`],
  ])('with many %s are read in linear time', (_name, make) => {
    expectLinearGrowth((count) => readCalendarEvent(make(count), null), 20_000);
  });

  test('keep their event within limits', () => {
    const party = `mailto:${'a'.repeat(5_000)}@x.test`;
    const lines = [
      `SUMMARY:${'x'.repeat(15_000)}`,
      `UID:${'u'.repeat(5_000)}`,
      ...Array<string>(500).fill(`ATTENDEE:${party}`),
    ];
    const found = read(lines);
    expect(found?.attendees).toHaveLength(100);
    expect([found?.summary.length, found?.uid?.length, found?.attendees[0]?.address.length]).toEqual([1_000, 500, 320]);
    expect(JSON.stringify(found).length).toBeLessThan(100_000);
  });
});
