import { heldForReview } from '../../core/routing/decide-route.ts';
import { evaluateRules, findPrompt, type ModelVerdict } from '../../core/routing/guard-rule.ts';
import {
  matchVerdicts,
  readStoredVerdicts,
  type StoredVerdict,
  toStoredJudgement,
} from '../../core/routing/stored-verdict.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import { isTransient } from '../../db/errors.ts';
import {
  type AskingRow,
  askLaterSql,
  claimAskingSql,
  takeAskedSql,
  type UnroutedRow,
} from '../../db/queries/routing/delivery-route.ts';
import type { Reply, Request } from '../../schema/messages.ts';
import type { Run } from '../actor.ts';
import { setAside } from '../set-aside.ts';
import { type DecidedEmail, decideRoutes, type RoutingParts, readWholeFacts } from './decide-routes.ts';
import type { DeliveryFlow } from './delivery-flow.ts';
import type { GuardModel } from './guard-model.ts';
import { listTurns, storeRoutes } from './route-emails.ts';

/** Asks the model about mail whose guard rules need it, and routes the mail by its result. */
export interface Asker {
  /** Claims as many emails as there is room for and leaves them running. Returns how many were claimed. */
  askDue(run: Pick<Run<never>, 'isStopping' | 'keep'>): Promise<number>;
  /** Serves the question of that name. */
  respond(request: Request<'delivery.guard.ask'>): Promise<Reply<'delivery.guard.ask'>>;
  /** Ends open requests to the model. */
  stop(): Promise<void>;
}

export interface AskerOptions {
  parts: RoutingParts;
  /** null when no model is configured */
  model: GuardModel | null;
  flow: DeliveryFlow;
  fault: (point: AskFaultPoint) => void;
}

/** Points at which fault tests kill the process. */
export type AskFaultPoint = 'guard.asked';

/** Requests to the model at the same time, in all and for the mail of one user. */
const MAX_OPEN = 4;
const MAX_OPEN_OF_USER = 3;
/** Requests of users who test a rule. */
const MAX_OPEN_RESPONSES = 4;
/** Pauses before a failed request is retried. After the last one, the request has failed for good. Seconds. */
const BACK_OFF_SECONDS = [5, 30];

export function createAsker(options: AskerOptions): Asker {
  const { parts, model, flow, fault } = options;
  const { context } = parts;
  const open = new Map<string, number>();
  let openCount = 0;
  let openQuestions = 0;
  const ending = new AbortController();
  const timers = new Set<NodeJS.Timeout>();

  const claim = async (): Promise<AskingRow | undefined> => {
    const busy = [...open].filter(([, count]) => count >= MAX_OPEN_OF_USER).map(([workspaceId]) => workspaceId);
    const { rows } = await context.database.pool.query<AskingRow>({
      name: 'delivery-claim-asking',
      text: claimAskingSql,
      values: [context.name, busy],
    });
    return rows[0];
  };

  /** Without this, only the next sweep would find it. */
  const askIn = (seconds: number) => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      flow.nudge('ask');
    }, seconds * 1_000);
    timers.add(timer);
  };

  const giveBack = (row: AskingRow, asks: number, seconds: number) =>
    context.database.pool.query({
      name: 'delivery-ask-later',
      text: askLaterSql,
      values: [context.name, row.workspace_id, row.email_id, asks, seconds],
    });

  /**
   * Asks the model about the first rule that waits for it. Returns null when no rule waits (any more), and undefined when it must be asked
   * again later.
   */
  const nextReply = async (row: AskingRow, signal: AbortSignal): Promise<StoredVerdict | null | undefined> => {
    const rules = (await parts.guard.read(context.database.pool, [row.workspace_id]))(row.workspace_id);
    const facts = await readWholeFacts(context.database.pool, row.workspace_id, row.email_id);
    if (facts === null || model === null) return null;
    const verdict = evaluateRules(rules, facts, matchVerdicts(readStoredVerdicts(row.verdicts), rules));
    if (verdict.kind !== 'ask') return null;
    const asks = verdict.rule.id === row.rule_id ? row.asks : 0;
    const startedAt = performance.now();
    const given = await model.ask(findPrompt(verdict.rule) ?? '', facts, signal);
    fault('guard.asked');
    const seconds = given.kind === 'failed' ? BACK_OFF_SECONDS[asks] : undefined;
    if (seconds === undefined)
      return toStoredJudgement(verdict.rule, given, context.now(), Math.round(performance.now() - startedAt));
    context.log.warn(
      { emailId: row.email_id, ruleId: verdict.rule.id, reason: given.reason, seconds },
      'delivery: the guard model failed and is asked again',
    );
    await giveBack(row, asks + 1, seconds);
    askIn(seconds);
    return undefined;
  };

  const askAbout = async (row: AskingRow, signal: AbortSignal): Promise<void> => {
    try {
      const given = await nextReply(row, signal);
      if (given === undefined) return;
      await finish(row, [
        ...readStoredVerdicts(row.verdicts).filter(({ ruleId }) => ruleId !== given?.ruleId),
        ...(given ? [given] : []),
      ]);
    } catch (error) {
      if (signal.aborted) await giveBack(row, row.asks, 0);
      // The lease expires, and the model is asked again.
      else if (isTransient(error)) throw error;
      else {
        context.log.error(
          { err: error, emailId: row.email_id },
          'delivery: mail cannot be judged and is held for review',
        );
        await holdOrSetAside(row);
      }
    }
  };

  const holdOrSetAside = async (row: AskingRow): Promise<void> => {
    try {
      await finish(row, [], holdAll);
    } catch (error) {
      if (isTransient(error)) throw error;
      await setAside(context, { workspaceId: row.workspace_id, step: 'ask', subjectId: row.email_id, error });
    }
  };

  /** Continues with the rules and stores the decision, unless the claim was lost. */
  const finish = async (row: AskingRow, verdicts: StoredVerdict[], decide = decideRoutes): Promise<void> => {
    const readAt = performance.now();
    const stored = await inTransaction(context.database, async (client) => {
      const { rows } = await client.query<UnroutedRow>({
        name: 'delivery-take-asked',
        text: takeAskedSql,
        values: [row.workspace_id, row.email_id, context.name],
      });
      if (rows.length === 0) return null;
      const { decided, find } = await decide(
        parts,
        client,
        rows.map((taken) => ({ ...taken, verdicts })),
        readAt,
      );
      return storeRoutes(client, { context, decided, find, admit: () => 'left' });
    });
    if (stored === null) return;
    for (const { workspaceId, lastSeq } of stored.grown)
      context.bus.publish('event.appended', { workspaceId, lastSeq });
    flow.freeTurns(listTurns(stored));
    for (const { delivery_type: type } of stored.routes.map(({ record }) => record))
      if (type !== null) flow.nudge(type === 'webhook' ? 'deliver' : 'forward');
  };

  return {
    async askDue(run) {
      let count = 0;
      while (openCount < MAX_OPEN && !run.isStopping()) {
        const row = await claim();
        if (row === undefined) break;
        count++;
        openCount++;
        open.set(row.workspace_id, (open.get(row.workspace_id) ?? 0) + 1);
        run.keep(
          askAbout(row, ending.signal).finally(() => {
            openCount--;
            const left = (open.get(row.workspace_id) ?? 1) - 1;
            if (left === 0) open.delete(row.workspace_id);
            else open.set(row.workspace_id, left);
            flow.nudge('ask');
          }),
        );
      }
      return count;
    },

    async respond({ workspaceId, emailId, prompt }) {
      if (model === null) return { verdict: 'failed', reason: 'no model is configured' };
      if (openQuestions >= MAX_OPEN_RESPONSES) return { verdict: 'failed', reason: 'the model is busy' };
      openQuestions++;
      try {
        const facts = await readWholeFacts(context.database.pool, workspaceId, emailId);
        if (facts === null) return { verdict: 'not-found' };
        return toReply(await model.ask(prompt, facts, ending.signal));
      } finally {
        openQuestions--;
      }
    },

    // A stop does not wait for the model: another process asks it again, and this attempt does not count.
    async stop() {
      ending.abort();
      for (const timer of timers) clearTimeout(timer);
      await model?.destroy();
    },
  };
}

function toReply(verdict: ModelVerdict): Reply<'delivery.guard.ask'> {
  return verdict.kind === 'answered'
    ? { verdict: 'answered', isMatch: verdict.isMatch, reason: verdict.reason }
    : { verdict: 'failed', reason: verdict.reason };
}

const holdAll: typeof decideRoutes = (_, __, rows) =>
  Promise.resolve({
    decided: rows.map((row): DecidedEmail => ({ row, decision: heldForReview(), verdicts: [] })),
    find: () => undefined,
  });
