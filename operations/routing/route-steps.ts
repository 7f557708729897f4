import type { StoredAnswer } from '../../core/routing/guard-answers.ts';
import type { Delivery } from '../../db/queries/endpoints/delivery-list.ts';
import type { RouteReferences, StoredRoute } from '../../db/queries/routing/route-read.ts';

/** A stage of a mail's way through the service. */
export interface RouteStep {
  step: 'received' | 'parsed' | 'threaded' | 'asked' | 'routed' | 'released' | 'delivered';
  /** when it was done, or for a delivery that is pending when there is or was a try; null: it is yet to come */
  at: Date | null;
  /** from the step before, of a question or a delivery from its own beginning; null where nobody knows */
  durationMs: number | null;
  detail: string;
  /** of step delivered */
  deliveryId: string | null;
}

export interface StepFacts {
  /** of the route */
  reason: string;
  answers: readonly StoredAnswer[];
  /** oldest first */
  deliveries: readonly Delivery[];
  names: RouteReferences;
}

/** The stages that a mail has passed, and those deliveries that are yet to be made, in their order. */
export function stepsOf(stored: StoredRoute, { reason, answers, deliveries, names }: StepFacts): RouteStep[] {
  const { reception, route } = stored;
  const parsedAt = reception?.parsedAt ?? null;
  const asked = answers.map(
    (answer): RouteStep => ({
      step: 'asked',
      at: new Date(answer.at),
      durationMs: answer.durationMs,
      detail: answerText(answer, names),
      deliveryId: null,
    }),
  );
  return [
    step('received', stored.createdAt, null, receptionText(stored)),
    ...(parsedAt === null ? [] : [step('parsed', parsedAt, stored.createdAt, parseText(stored))]),
    ...(route === null
      ? []
      : [step('threaded', route.threaded_at, parsedAt ?? stored.createdAt, threadText(stored)), ...asked]),
    ...(route?.decided_at == null ? [] : [step('routed', route.decided_at, route.threaded_at, reason)]),
    ...(route?.released_at == null
      ? []
      : [
          step(
            'released',
            route.released_at,
            null,
            'Somebody let it through: it goes the way it would go without guard rules.',
          ),
        ]),
    ...deliveries.map((delivery) => deliveryStep(delivery, names)),
  ];
}

function step(name: RouteStep['step'], at: Date, since: Date | null, detail: string): RouteStep {
  const durationMs = since === null ? null : Math.max(0, at.getTime() - since.getTime());
  return { step: name, at, durationMs, detail, deliveryId: null };
}

function receptionText({ reception, recipient, ownAddress }: StoredRoute): string {
  const to = recipient ?? ownAddress;
  const own = to.toLowerCase() === ownAddress ? '' : `, which ${ownAddress} takes`;
  if (reception === null) return `Accepted for ${to}${own}.`;
  const from = reception.reversePath === '' ? 'with a null return address' : `from ${reception.reversePath}`;
  const connection = `${reception.remoteAddress} (${reception.helo})${reception.isTls ? ' over TLS' : ''}`;
  return `Accepted for ${to}${own}, ${from}, of ${connection}.`;
}

function parseText({ parseError }: StoredRoute): string {
  return parseError === null ? 'Parsed.' : `It could not be parsed, and is stored as it came: ${parseError}`;
}

function threadText({ threadReason }: StoredRoute): string {
  switch (threadReason) {
    case 'header':
      return 'It joined its thread by In-Reply-To.';
    case 'references':
      return 'It joined its thread by References.';
    case 'subject':
      return 'It joined its thread by subject and participants.';
    case 'new':
    case null:
      return 'It began a thread.';
  }
}

function answerText({ ruleId, isMatch, reason }: StoredAnswer, { rules }: RouteReferences): string {
  const rule = `guard rule ${nameOr(rules.get(ruleId)?.name, ruleId)}`;
  if (isMatch === null) return `The model of the ${rule} did not answer: ${reason}`;
  return `The model says that it ${isMatch ? 'fits' : 'does not fit'} the ${rule}${reason === '' ? '' : `: ${reason}`}`;
}

function deliveryStep(delivery: Delivery, { endpoints }: RouteReferences): RouteStep {
  const at = delivery.completedAt ?? delivery.lastAttemptAt ?? delivery.nextAttemptAt;
  return {
    step: 'delivered',
    at,
    durationMs: delivery.completedAt === null ? null : delivery.completedAt.getTime() - delivery.createdAt.getTime(),
    detail: `${deliveryText(delivery)} (endpoint ${nameOr(endpoints.get(delivery.endpointId)?.name, delivery.endpointId)})`,
    deliveryId: delivery.id,
  };
}

const CAUSES: Record<Delivery['cause'], string> = {
  route: 'By its route',
  retry: 'Asked for again',
  replay: 'By a replay',
  release: 'By its release',
};

function deliveryText({ cause, status, attempts, attemptLog, recipients, type }: Delivery): string {
  const tries = attempts === 1 ? '1 try' : `${attempts} tries`;
  const what = type === 'webhook' ? 'webhook' : 'forwarded copy';
  const error = attemptLog.at(-1)?.error ?? recipients.find(({ text }) => text !== null)?.text ?? null;
  switch (status) {
    case 'success':
      return `${CAUSES[cause]}: ${what} delivered after ${tries}.`;
    case 'failed':
      return `${CAUSES[cause]}: ${what} failed after ${tries}${error === null ? '.' : `: ${error}`}`;
    case 'pending':
      return `${CAUSES[cause]}: ${what} pending after ${tries}${error === null ? '.' : `: ${error}`}`;
  }
}

function nameOr(name: string | undefined, id: string): string {
  return name === undefined ? id : `“${name}”`;
}
