import { describe, expect, test } from 'vitest';
import { readCalendarEvent } from '../../../core/mime/calendar-event.ts';
import { composeMessage } from '../../../core/mime/compose-message.ts';
import { findReplyFlaw, writeEventReply } from '../../../core/sending/event-reply.ts';

const NOW = new Date('2026-11-29T05:00:00.123Z');
const ATTENDEE = { name: 'Ann "A" Lee', address: 'ann@here.test' };

function invitation(lines: readonly string[], method = 'REQUEST') {
  const event = readCalendarEvent(
    ['BEGIN:VCALENDAR', `METHOD:${method}`, 'BEGIN:VEVENT', ...lines, 'END:VEVENT', 'END:VCALENDAR'].join('\r\n'),
    null,
  );
  if (event === null) throw new Error('no event');
  return event;
}

const PLAIN = ['UID:1@there.test', 'ORGANIZER;CN=Bob:mailto:bob@there.test', 'DTSTART:20261201T090000Z', 'SEQUENCE:3'];

describe('an event reply', () => {
  test('has what RFC 5546 asks for, and is read back as it was written', () => {
    const event = invitation([...PLAIN, 'SUMMARY:Lunch\\, and; more', 'DTEND:20261201T100000Z']);
    const text = writeEventReply(event, { response: 'accepted', comment: 'Yes;\nsure', attendee: ATTENDEE, now: NOW });
    expect(text.split('\r\n')).toEqual([
      'BEGIN:VCALENDAR',
      'VERSION:2.0',
      'PRODID:-//Postroom//Postroom//EN',
      'METHOD:REPLY',
      'BEGIN:VEVENT',
      'UID:1@there.test',
      'DTSTAMP:20261129T050000Z',
      'ORGANIZER;CN="Bob":mailto:bob@there.test',
      `ATTENDEE;PARTSTAT=ACCEPTED;CN="Ann 'A' Lee":mailto:ann@here.test`,
      'SEQUENCE:3',
      'SUMMARY:Lunch\\, and\\; more',
      'DTSTART:20261201T090000Z',
      'DTEND:20261201T100000Z',
      'COMMENT:Yes\\;\\nsure',
      'END:VEVENT',
      'END:VCALENDAR',
      '',
    ]);
    expect(readCalendarEvent(text, null)).toMatchObject({
      method: 'REPLY',
      uid: '1@there.test',
      sequence: 3,
      start: event.start,
      end: event.end,
      attendees: [{ address: 'ann@here.test', status: 'accepted' }],
    });
  });

  test('names the occurrence that was asked about, and days as days', () => {
    const event = invitation([
      'UID:1',
      'ORGANIZER:mailto:b@c.test',
      'DTSTART;VALUE=DATE:20261201',
      'RECURRENCE-ID;VALUE=DATE:20261201',
    ]);
    const text = writeEventReply(event, { response: 'declined', comment: null, attendee: ATTENDEE, now: NOW });
    expect(text).toContain('RECURRENCE-ID;VALUE=DATE:20261201\r\n');
    expect(text).toContain('DTSTART;VALUE=DATE:20261201\r\n');
  });

  test('has no lines that the texts of the sender add, and none of more than 75 bytes', () => {
    const event = invitation([
      ...PLAIN,
      `SUMMARY:${'ä'.repeat(300)}\\nATTENDEE;PARTSTAT=DECLINED:mailto:evil@there.test`,
    ]);
    const hostile = {
      ...event,
      uid: 'a\r\nMETHOD:CANCEL',
      organizer: { name: 'x\r\nATTENDEE:y', address: 'bob@there.test' },
    };
    const text = writeEventReply(hostile, { response: 'tentative', comment: null, attendee: ATTENDEE, now: NOW });
    for (const line of text.split('\r\n')) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75);
    const lines = text.replaceAll('\r\n ', '').split('\r\n');
    expect(lines.filter((line) => /^(METHOD|ATTENDEE)/.test(line))).toHaveLength(2);
    expect(readCalendarEvent(text, null)?.attendees).toHaveLength(1);
  });

  test('is an alternative to the text of its mail', async () => {
    const event = invitation(PLAIN);
    const calendar = writeEventReply(event, { response: 'accepted', comment: null, attendee: ATTENDEE, now: NOW });
    const bytes = await composeMessage({
      messageId: '<1@here.test>',
      date: NOW,
      from: { name: null, address: 'ann@here.test' },
      to: [{ name: null, address: 'bob@there.test' }],
      cc: [],
      replyTo: [],
      subject: 'Accepted: Lunch',
      text: 'Accepted',
      html: null,
      inReplyTo: null,
      references: [],
      fields: [],
      attachments: [
        {
          filename: 'reply.ics',
          content: Buffer.from(calendar),
          contentType: 'text/calendar; charset=utf-8; method=REPLY',
          contentId: null,
          event,
        },
      ],
    });
    const mail = bytes.toString('latin1');
    expect(mail).toMatch(/Content-Type: multipart\/alternative;/);
    expect(mail).toMatch(/Content-Type: text\/calendar; charset=utf-8; method=REPLY/);
    expect(mail).toContain('Content-Disposition: inline; filename=reply.ics');
  });
});

describe('an event', () => {
  test.each([
    [PLAIN, 'REQUEST', null],
    [PLAIN, 'CANCEL', 'cancelled'],
    [[...PLAIN, 'STATUS:CANCELLED'], 'REQUEST', 'cancelled'],
    [PLAIN, 'PUBLISH', 'no invitation'],
    [PLAIN, 'REPLY', 'no invitation'],
    [PLAIN.slice(1), 'REQUEST', 'no identifier'],
    [['UID:1', 'DTSTART:20261201T090000Z'], 'REQUEST', 'no organizer'],
    [['UID:1', 'ORGANIZER:mailto:not an address'], 'REQUEST', 'no organizer'],
  ])('with %j and the method %s can be answered or not: %s', (lines, method, flaw) => {
    expect(findReplyFlaw(invitation(lines, method))).toBe(flaw);
  });
});
