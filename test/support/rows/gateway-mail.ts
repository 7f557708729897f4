import type { Actor } from '../../../actors/actor.ts';
import { startReceivingActor } from '../../../actors/receiving/actor.ts';
import { startThreadingActor } from '../../../actors/threading/actor.ts';
import type { TestGateway } from '../servers/gateway.ts';
import { testActorContext } from '../stages/actor-context.ts';
import { offerAcceptedMessage } from './offer-message.ts';
import { testSecretKey } from './sent-mail.ts';

/** Mail that comes in at a test gateway: received, parsed and threaded by the real actors, on its bus and its database. */
export interface GatewayMail {
  /** Offers a message as SMTP does; returns the id that its email bears. */
  deliver(message: string, recipient: string): Promise<string>;
  stop(): Promise<void>;
}

export async function takeMail(gateway: TestGateway): Promise<GatewayMail> {
  const { bus } = gateway;
  const context = { ...testActorContext(gateway.actor), bus };
  const actors: Actor[] = [
    await startReceivingActor(context, {
      workers: 1,
      // a closed port: every look-up fails at once
      dnsServers: ['127.0.0.1:1'],
      dataDirectory: null,
      mailHostname: 'mx.test',
      secretKey: testSecretKey,
    }),
    await startThreadingActor(context),
  ];
  return {
    deliver: (message, recipient) =>
      offerAcceptedMessage(bus, Buffer.from(message.replace(/\r?\n/g, '\r\n')), recipient),
    async stop() {
      await Promise.all(actors.map((actor) => actor.stop()));
    },
  };
}
