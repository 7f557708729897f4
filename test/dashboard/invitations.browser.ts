import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumPath } from '../support/servers/chromium.ts';
import { findViolations } from '../support/stages/axe.ts';
import { type BrowserStage, openBrowserStage } from '../support/stages/browser-stage.ts';

const LIMIT = { timeout: 300_000 };
let stage: BrowserStage;

/** An invitation of the organizer to an attendee. */
function calendar(organizer: string, attendee: string, method = 'REQUEST'): string {
  return [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    `METHOD:${method}`,
    'BEGIN:VEVENT',
    'UID:planning-4711@sender.test',
    'DTSTAMP:20261101T000000Z',
    'DTSTART;TZID=Europe/Berlin:20270115T100000',
    'DTEND;TZID=Europe/Berlin:20270115T110000',
    'SUMMARY:Planning of the year',
    'LOCATION:Room 5',
    `ORGANIZER;CN=Olga Organizer:mailto:${organizer}`,
    `ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:${attendee}`,
    'END:VEVENT',
    'END:VCALENDAR',
    '',
  ].join('\r\n');
}

describe.skipIf(chromiumPath === undefined)('invitations in the dashboard', () => {
  beforeAll(async () => {
    stage = await openBrowserStage();
  });
  afterAll(() => stage?.close());

  test('are shown as a card, and answered by a mail that calendars understand', LIMIT, async () => {
    const account = await stage.account();
    const organizer = await stage.account();
    const content = calendar(organizer.address, account.address);
    await stage.mail({
      to: account.address,
      subject: 'Invitation: Planning',
      text: 'You are invited.',
      icalEvent: { method: 'REQUEST', content },
    });
    const { page, complaints } = await stage.open(account);
    page.setDefaultTimeout(30_000);
    await page.goto(`${stage.url}/inbox`);
    await page.getByRole('row').filter({ hasText: 'Invitation: Planning' }).getByRole('link').click();
    const card = page.getByRole('region', { name: 'Invitation' });
    await card.getByText('Planning of the year').waitFor();
    await card.getByText('Room 5').waitFor();
    await card.getByText(/January 15, 2027/).waitFor();
    await card.getByText('Olga Organizer').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await card.getByLabel('Comment for the organizer').fill('I bring cake');
    await card.getByRole('button', { name: 'Accept', exact: true }).click();
    await card.getByText('You accepted.').waitFor();
    await page.reload();
    await card.getByText('You accepted.').first().waitFor();

    // The organizer, who is on the same service, gets a reply with the decision.
    const received = async () => {
      const { body } = await organizer.graphql(
        '{ emails(first: 5, filter: { type: RECEIVED }) { edges { node { subject content { text } extracts { event { method uid attendees { address status } } } } } } }',
      );
      return body.data.emails.edges.map(({ node }: { node: object }) => node);
    };
    await expect.poll(received, { timeout: 60_000 }).toEqual([
      {
        subject: 'Accepted: Planning of the year',
        content: { text: expect.stringContaining('I bring cake') },
        extracts: {
          event: {
            method: 'REPLY',
            uid: 'planning-4711@sender.test',
            attendees: [{ address: account.address, status: 'ACCEPTED' }],
          },
        },
      },
    ]);
    expect(complaints).toEqual([]);
  });

  test('are answered over REST once with the same idempotency key, and refused for other mail', LIMIT, async () => {
    const account = await stage.account();
    const organizer = await stage.account();
    await stage.mail({
      to: account.address,
      subject: 'Invitation: Planning',
      text: 'You are invited.',
      icalEvent: { method: 'REQUEST', content: calendar(organizer.address, account.address) },
    });
    await stage.mail({
      to: account.address,
      subject: 'Cancelled: Planning',
      text: 'It is off.',
      icalEvent: { method: 'CANCEL', content: calendar(organizer.address, account.address, 'CANCEL') },
    });
    await stage.mail({ to: account.address, subject: 'Plain', text: 'No event.' });
    const list = async () =>
      (await account.call('GET', '/emails?type=received')).body.data as { id: string; subject: string }[];
    await expect.poll(async () => (await list()).length).toBe(3);
    const findId = async (subject: string) =>
      (await list()).find((email) => email.subject.startsWith(subject))?.id ?? '';
    const respond = async (id: string, body: object) =>
      fetch(`${stage.url}/api/e2/emails/${id}/event-reply`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${account.apiKey}`,
          'content-type': 'application/json',
          'idempotency-key': 'answer-1',
        },
        body: JSON.stringify(body),
      });
    const invitation = await findId('Invitation');
    const first = await respond(invitation, { response: 'declined' });
    const made = await first.json();
    expect([first.status, made]).toEqual([
      200,
      { email_id: invitation, reply_id: expect.any(String), organizer: organizer.address, response: 'declined' },
    ]);
    expect(await (await respond(invitation, { response: 'declined' })).json()).toEqual(made);
    for (const subject of ['Cancelled', 'Plain']) {
      const refused = await account.call('POST', `/emails/${await findId(subject)}/event-reply`, {
        response: 'accepted',
      });
      expect(refused.status).toBe(409);
    }
    expect((await account.call('POST', `/emails/${invitation}/event-reply`, { response: 'perhaps' })).status).toBe(400);
    expect((await organizer.call('POST', `/emails/${invitation}/event-reply`, { response: 'accepted' })).status).toBe(
      404,
    );
  });
});
