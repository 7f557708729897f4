import { createTransport } from 'nodemailer';
import { type TestAccount, until } from '../servers/service.ts';

/** What pages of a well-filled account show by name. */
export interface SampleAccount {
  threadId: string;
  /** a received email with a delivery that failed */
  emailId: string;
  /** an email with HTML, a PDF and a text file */
  invoiceId: string;
  sentEmailId: string;
  domainId: string;
  /** a domain that is not proven yet */
  newDomainId: string;
  endpointId: string;
  ruleId: string;
}

export interface SamplePlace {
  account: Pick<TestAccount, 'call'>;
  domain: string;
  domainId: string;
  smtpPort: number;
  /** a webhook that returns 200; null: none, and deliveries fail */
  webhookUrl: string | null;
}

const people = {
  maya: '"Maya Okafor" <maya@northwind.example>',
  jonas: '"Jonas Berg" <jonas@fjordbikes.example>',
  lin: '"Lin Chen" <lin@paperplane.example>',
  build: '"Build server" <ci@fjordbikes.example>',
  shop: '"Pills4U" <win@pills4u.example>',
};

const ORDERS = `order,placed on,product,quantity,price
2187,2026-10-02,Desk lamp,1,49.00
2195,2026-10-05,Floor lamp,1,129.00
2204,2026-10-11,Bicycle light,2,38.00
2219,2026-10-19,Desk lamp,3,147.00
2231,2026-10-28,Desk lamp,1,49.00
`;

/** Fills an account as a small support team would have it: people who write, answers, endpoints, rules, scheduled and blocked mail. */
export async function fillAccount({
  account,
  domain,
  domainId,
  smtpPort,
  webhookUrl,
}: SamplePlace): Promise<SampleAccount> {
  const call = async (method: string, route: string, body?: unknown) => {
    const response = await account.call(method, route, body);
    if (response.status >= 300)
      throw new Error(`${method} ${route}: ${response.status} ${JSON.stringify(response.body)}`);
    return response.body;
  };
  const transport = createTransport({ host: '127.0.0.1', port: smtpPort, secure: false, ignoreTLS: true });
  const support = `support@${domain}`;
  const billing = `billing@${domain}`;

  const webhook = await call('POST', '/endpoints', {
    name: 'Ticket system',
    type: 'webhook',
    config: { url: webhookUrl ?? 'http://127.0.0.1:7999/tickets', retryAttempts: 1 },
  });
  const accounting = await call('POST', '/endpoints', {
    name: 'Accounting',
    type: 'email',
    config: { forwardTo: `accounting@${domain}` },
  });
  await call('POST', '/email-addresses', { address: support, domainId, endpointId: webhook.id });
  await call('POST', '/email-addresses', { address: billing, domainId, endpointId: accounting.id });
  await call('POST', '/email-addresses', { address: `accounting@${domain}`, domainId });
  const rule = await call('POST', '/guard', {
    name: 'No miracle pills',
    type: 'explicit',
    config: { subject: { operator: 'OR', values: ['miracle pills'] } },
    action: { action: 'block' },
  });
  const newDomain = await call('POST', '/domains', { domain: `${domain.split('.')[0]}-new.example` });
  await call('POST', '/suppressions', { address: 'gone@northwind.example' }).catch(() => undefined);

  const send = (from: string, to: string, subject: string, text: string, more: object = {}) =>
    transport.sendMail({ from, to, subject, text, ...more });
  const first = await send(
    people.maya,
    support,
    'Where is my order 2231?',
    'Hi,\n\nI ordered a lamp two weeks ago and it has not come yet. Can you look?\n\nMaya',
  );
  await send(
    people.jonas,
    billing,
    'Invoice 0087 for October',
    'Hello,\n\nattached is the invoice for October.\n\nJonas Berg',
    {
      attachments: [
        { filename: 'invoice-0087.pdf', content: Buffer.from('%PDF-1.4 sample') },
        { filename: 'october.csv', content: ORDERS },
      ],
      html: '<p>Hello,</p><p style="display: grid">attached is the <b>invoice</b> for October.</p><p><a href="fjordbikes.example/0087">See it online</a></p><img src="http://tracker.example/open.gif" width="1" height="1"><p>Jonas Berg</p>',
    },
  );
  await send(
    people.build,
    support,
    'Build 512 failed on main',
    'Step "test" ended with status 1.\nhttps://ci.fjordbikes.example/builds/512',
  );
  await send(people.lin, support, 'Your code is 417 920', 'Enter 417920 to sign in. It is good for ten minutes.');
  await send(people.shop, support, 'Miracle pills, today only', 'Buy now.');
  const received = await waitForMail(call, 5);
  const order = received.find((email) => email.subject === 'Where is my order 2231?');
  const invoice = received.find((email) => email.subject === 'Invoice 0087 for October');
  if (order === undefined || invoice === undefined) throw new Error('the sample mail did not come in');
  const reply = await call('POST', `/emails/${order.id}/reply`, {
    from: `Support <${support}>`,
    text: 'Hello Maya,\n\nit left our house yesterday and is with you on Thursday. Sorry for the wait.\n\nYour support team',
  });
  await send(
    people.maya,
    support,
    'Re: Where is my order 2231?',
    'Wonderful, thank you!\n\n> it left our house yesterday',
    {
      inReplyTo: first.messageId,
      references: [first.messageId],
    },
  );
  const letter = {
    from: `Support <${support}>`,
    to: [`accounting@${domain}`],
    text: 'Please find the figures of this week below.',
  };
  const sent = await call('POST', '/emails', { ...letter, subject: 'Figures of this week' });
  await call('POST', '/emails', { ...letter, subject: 'Reminder: stocktaking', scheduled_at: 'in 3 days' });
  await call('POST', '/emails', { ...letter, subject: 'Happy anniversary', scheduled_at: 'in 6 days' });
  // The reply and the figures that come back in at our own listener, too.
  await waitForMail(call, 7);
  transport.close();
  const { threads } = await call('GET', '/mail/threads?limit=50');
  const thread = threads.find((each: { message_count: number }) => each.message_count >= 3) ?? threads[0];
  return {
    threadId: thread.id,
    emailId: order.id,
    invoiceId: invoice.id,
    sentEmailId: sent.id ?? reply.id,
    domainId,
    newDomainId: newDomain.id,
    endpointId: webhook.id,
    ruleId: rule.data.id,
  };
}

/** Waits until so many mails have come in and have their threads; returns them. */
async function waitForMail(
  call: (
    method: string,
    route: string,
  ) => Promise<{ data: { id: string; subject: string; thread_id?: string | null }[] }>,
  count: number,
): Promise<{ id: string; subject: string }[]> {
  let data: { id: string; subject: string }[] = [];
  await until(
    `${count} emails came in`,
    () => JSON.stringify(data),
    async () => {
      ({ data } = await call('GET', '/emails?type=received&limit=100'));
      return data.length >= count;
    },
  );
  return data;
}
