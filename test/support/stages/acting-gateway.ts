import type { Actor } from '../../../actors/actor.ts';
import { startDeliveryActor } from '../../../actors/delivery/actor.ts';
import { startReceivingActor } from '../../../actors/receiving/actor.ts';
import { startThreadingActor } from '../../../actors/threading/actor.ts';
import type { TestMailbox } from '../rows/routing-rows.ts';
import { openTestGateway, type TestGateway } from '../servers/gateway.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../servers/webhook-receiver.ts';
import { testActorContext } from './actor-context.ts';

/** What a response has, in the shape that its query asks for. */
type Data = ReturnType<typeof JSON.parse>;

/** A gateway with the actors that it asks, and a mailbox whose mail goes to a webhook. */
export interface ActingGateway {
  gateway: TestGateway;
  receiver: WebhookReceiver;
  box: TestMailbox;
  /** Asks as the owner of the mailbox. Returns the data; throws the errors. */
  ask(query: string, variables?: Record<string, unknown>, key?: string): Promise<Data>;
  close(): Promise<void>;
}

const secretKey = Buffer.alloc(32, 7);

export async function openActingGateway(): Promise<ActingGateway> {
  const receiver = await startWebhookReceiver();
  const gateway = await openTestGateway({ config: { secretKey } });
  const box = await gateway.mailbox({ endpointUrl: receiver.url });
  const context = { ...testActorContext(gateway.actor), bus: gateway.bus };
  const receiving = {
    workers: 1,
    dnsServers: ['127.0.0.1:1'],
    dataDirectory: null,
    mailHostname: 'mx.test',
    secretKey,
  };
  const delivery = {
    publicUrl: 'https://m.test',
    allowedPrivateNetworks: ['127.0.0.0/8'],
    refusedPorts: [],
    secretKey,
  };
  const actors: Actor[] = [
    await startReceivingActor(context, receiving),
    await startThreadingActor(context),
    await startDeliveryActor(context, delivery),
  ];
  return {
    gateway,
    receiver,
    box,
    async ask(query, variables = {}, key = box.apiKey) {
      const { data, errors } = (await gateway.graphql(key, query, variables)).json();
      if (errors !== undefined) throw new Error(JSON.stringify(errors));
      return data;
    },
    async close() {
      await Promise.all(actors.map((actor) => actor.stop()));
      await gateway.close();
      await receiver.stop();
    },
  };
}
