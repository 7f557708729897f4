import type { SendMailOptions } from 'nodemailer';
import { createTransport } from 'nodemailer';
import { until } from '../support/servers/service.ts';
import type { SendingStage } from '../support/stages/sending-stage.ts';

/** Sends a mail to the service by SMTP; answers the id of the email that it became. Resolves once it is threaded. */
export async function receiveMail(stage: SendingStage, to: string, mail: SendMailOptions): Promise<string> {
  const transport = createTransport({ host: '127.0.0.1', port: stage.service.smtpPort, ignoreTLS: true });
  const { messageId } = await transport.sendMail({ from: 'Ada <ada@elsewhere.test>', to, subject: 'Hello', ...mail });
  transport.close();
  let id: string | null = null;
  await until(
    `${messageId} is threaded`,
    () => stage.service.output.slice(-2_000),
    async () => {
      const { body } = await stage.account.call('GET', '/emails?type=received&limit=100');
      const found = body.data.find((email: { message_id: string }) => email.message_id === messageId);
      id = found?.thread_id == null ? null : found.id;
      return id !== null;
    },
  );
  return id ?? '';
}
