import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { openForFile } from '../../support/open-for-file.ts';
import { insertMail } from '../../support/rows/mail-rows.ts';
import { openTestGateway } from '../../support/servers/gateway.ts';
import { graphClient } from '../../support/servers/graph-client.ts';

const gateway = openForFile(() => openTestGateway({ config: { sendLimitPerHour: 5, isSignUpOpen: false } }));

test('settings of the service and the use of limits are returned', async () => {
  const box = await gateway.mailbox();
  const graph = graphClient(gateway, box.apiKey);
  await insertMail(gateway.actor, [
    { workspaceId: box.workspaceId, type: 'sent' },
    { workspaceId: box.workspaceId, type: 'sent', createdAt: new Date(Date.now() - 2 * 3_600_000) },
    { workspaceId: box.workspaceId },
  ]);
  const { viewer } = await graph.ask(
    `{ viewer { limits { sendsPerHour sendsLeft sentWithinHour }
      service { version smtpHost smtpPort isSignUpOpen retentionDays mailHostname publicUrl } } }`,
  );
  expect(viewer).toEqual({
    limits: { sendsPerHour: 5, sendsLeft: 4, sentWithinHour: 1 },
    service: {
      version: '1.2.3',
      smtpHost: 'smtp.postroom.test',
      smtpPort: 2525,
      isSignUpOpen: false,
      retentionDays: null,
      mailHostname: 'mx.postroom.test',
      publicUrl: 'http://postroom.test/',
    },
  });
});

describe('a first mail', () => {
  const FIRST = '{ viewer { firstMail { address emailAddress { id } swaks curl list } } }';

  test('is sent to the oldest address that receives mail', async () => {
    const first = await gateway.mailbox({ domain: 'first.test' });
    const second = await gateway.mailbox({ domain: 'second-of-them.test', workspaceId: first.workspaceId });
    const graph = graphClient(gateway, first.apiKey);
    expect((await graph.ask(FIRST)).viewer.firstMail).toEqual({
      address: 'hello@first.test',
      emailAddress: { id: first.addressId },
      swaks: `swaks --server smtp.postroom.test:2525 --from you@example.com --to hello@first.test --header 'Subject: Hello' --body 'A first mail'`,
      curl: String.raw`printf 'From: you@example.com\r\nTo: hello@first.test\r\nDate: %s\r\nSubject: Hello\r\n\r\nA first mail\r\n' "$(date -R)" | curl -sS smtp://smtp.postroom.test:2525 --mail-from you@example.com --mail-rcpt hello@first.test --upload-file -`,
      list: `curl -H 'Authorization: Bearer API_KEY' http://postroom.test/api/e2/emails`,
    });
    await gateway.actor.pool.query('update email_address set is_active = false where id = $1', [first.addressId]);
    expect((await graph.ask(FIRST)).viewer.firstMail.emailAddress).toEqual({ id: second.addressId });
    await gateway.actor.pool.query(`update domain set status = 'pending' where id = $1`, [second.domainId]);
    expect((await graph.ask(FIRST)).viewer.firstMail).toBeNull();
  });

  test('is sent by commands that a shell parses as intended, whatever the address is', async () => {
    const box = await gateway.mailbox({ domain: 'odd.test', address: "o'neil&%s$x@odd.test" });
    const { viewer } = await graphClient(gateway, box.apiKey).ask(FIRST);
    const { swaks, curl } = viewer.firstMail;
    const words = (command: string) =>
      execFileSync('sh', ['-c', `swaks() { printf '%s\\n' "$@"; }; curl() { cat; printf '%s\\n' "$@"; }; ${command}`], {
        encoding: 'utf8',
      });
    expect(words(swaks).split('\n')).toContain("o'neil&%s$x@odd.test");
    expect(words(curl).replace(/Date: .*\r\n/, '')).toContain(
      "To: o'neil&%s$x@odd.test\r\nSubject: Hello\r\n\r\nA first mail\r\n",
    );
    expect(words(curl).split('\n')).toContain("o'neil&%s$x@odd.test");
  });
});
