import { describe, expect, test } from 'vitest';
import { DISCORD_LIMITS, SLACK_LIMITS } from '../../../core/endpoints/chat-payload.ts';
import { buildEventBody, buildEventChat, type PostedEvent } from '../../../core/endpoints/event-payload.ts';
import { EVENT_KINDS, type EventKind } from '../../../core/events/event-kinds.ts';

const event: PostedEvent = {
  id: 'evt_1',
  kind: 'email.bounced',
  at: new Date('2026-11-24T01:00:00Z'),
  cursor: 'cursor',
  data: {
    id: 'em_1',
    subject: 'Où?',
    from: 'me@box.test',
    to: ['joe@elsewhere.test'],
    html: '<p>x</p>'.repeat(500),
    text: 'y'.repeat(2_000),
    recipients: Array.from({ length: 100 }, (_, n) => ({ address: `joe${n}@elsewhere.test` })),
    recipient: {
      address: 'joe@elsewhere.test',
      last_response: '550 5.1.1 <!channel> @everyone no user',
      refusal: { title: 'The address does not exist' },
    },
  },
  endpoint: { id: 'ep_1', name: 'Program', type: 'webhook' },
};
const json = (body: Buffer) => JSON.parse(body.toString('utf8'));

describe('buildEventBody', () => {
  test('shows the whole subject within the limit', () => {
    expect(json(buildEventBody(event, 1_000_000))).toEqual({
      id: 'evt_1',
      type: 'email.bounced',
      event: 'email.bounced',
      timestamp: '2026-11-24T01:00:00.000Z',
      cursor: 'cursor',
      data: event.data,
      endpoint: { id: 'ep_1', name: 'Program', type: 'webhook' },
    });
  });

  test('leaves out the longest texts first, then lists, and names them', () => {
    const shown = json(buildEventBody(event, 7_000));
    expect(shown.data).toEqual({ ...event.data, html: null });
    expect(shown.truncated).toEqual(['html']);
    const least = buildEventBody(event, 1_500);
    expect(least.length).toBeLessThanOrEqual(1_500);
    expect(json(least).truncated).toEqual(['html', 'text', 'recipients']);
    expect(json(least).data.recipients).toEqual([]);
  });

  test('says that the subject was deleted', () => {
    expect(json(buildEventBody({ ...event, data: null }, 10)).data).toBeNull();
  });
});

describe('buildEventChat', () => {
  const subjects: (PostedEvent['data'] | undefined)[] = [
    event.data,
    null,
    { thread: { id: 'th_1', normalized_subject: 'a', participant_emails: ['x@y.test'] }, messages: [] },
    { id: 'dom_1', domain: 'box.test', status: 'verified' },
  ];

  test.each(Object.keys(EVENT_KINDS) as EventKind[])('announces %s in both formats', (kind) => {
    for (const data of subjects) {
      const posted = { ...event, kind, data: data ?? null };
      const discord = json(buildEventChat('chat_a', posted, 'https://mail.test'));
      expect(discord.content.length).toBeGreaterThan(0);
      expect(discord.allowed_mentions).toEqual({ parse: [] });
      expect(JSON.stringify(discord.embeds[0]).length).toBeLessThan(DISCORD_LIMITS.all);
      for (const field of discord.embeds[0].fields) expect(field.value).not.toBe('');
      const slack = json(buildEventChat('chat_b', posted, 'https://mail.test'));
      expect(slack.text.length).toBeGreaterThan(0);
      expect(slack.blocks[0].text.text.length).toBeLessThanOrEqual(SLACK_LIMITS.header);
    }
  });

  test('shows a bounce with its recipient, the reason, the reply of the server, and a link', () => {
    const slack = json(buildEventChat('chat_b', event, 'https://mail.test'));
    expect(slack.text).toContain('rejected');
    const shown = JSON.stringify(slack.blocks);
    for (const text of [
      'joe@elsewhere.test',
      'The address does not exist',
      '550 5.1.1',
      'https://mail.test/emails/em_1',
    ])
      expect(shown).toContain(text);
    // Text of mail mentions no one.
    expect(shown).not.toContain('<!channel>');
    expect(JSON.stringify(json(buildEventChat('chat_a', event, 'https://mail.test')))).not.toContain(' @everyone');
  });
});
