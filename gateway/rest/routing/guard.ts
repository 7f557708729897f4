import { z } from 'zod';
import { guardConfigFields } from '../../../core/routing/guard-config.ts';
import {
  backtestSpan,
  guardCapability,
  guardMatch,
  guardRuleChanges,
  newGuardRule,
  triedRule,
} from '../../../operations/routing/guard-capability.ts';
import { CHECK_OUTCOMES, type GuardRule } from '../../../operations/routing/guard-rules.ts';
import { capabilityRoutes } from '../capability-routes.ts';
import { text } from '../shapes.ts';

const success = z.literal(true);

const alias = text.optional().meta({ description: 'Alias of `structuredEmailId`.' });
const checkBody = z
  .object({
    structuredEmailId: text.optional().meta({ description: 'ID of a received email.' }),
    email_id: alias,
    emailId: alias,
  })
  .refine((body) => Object.values(body).some((id) => id !== undefined), {
    message: 'structuredEmailId is required',
    path: ['structuredEmailId'],
  })
  .meta({
    anyOf: [{ required: ['structuredEmailId'] }, { required: ['email_id'] }, { required: ['emailId'] }],
    examples: [{ structuredEmailId: 'em_0190d4a3c5e67d2f8a1b2c3d4e5f6071' }],
  });

const check = z.object({
  matched: z.boolean(),
  outcome: z
    .enum(CHECK_OUTCOMES)
    .meta({ description: '`review`: the language model did not respond; the email would be held for review.' }),
  matchDetails: z.array(guardMatch).optional(),
  reason: z.string().optional().meta({ description: 'Response of the language model.' }),
});

/** The fields of a config, which the shape leaves open, so that unknown ones are named. */
const bodyFields = (shape: z.ZodObject) => ({ config: { bodyFields: shape.extend({ config: guardConfigFields }) } });

/** The reference service wraps some responses, supports PUT only, and has other names for the email to check. */
export const guardRoutes = capabilityRoutes<GuardRule>(guardCapability, {
  operations: {
    listGuardRules: {
      response: {
        shape: ({ shape }) => z.object({ success, ...shape }),
        bodyOf: (usual) => ({ success: true, ...usual }),
      },
    },
    createGuardRule: {
      request: newGuardRule.extend({ isActive: z.boolean().optional() }),
      inputOf: (request, usual) => usual({ isActive: true, ...request }),
      route: bodyFields(newGuardRule),
      response: {
        shape: (rule) => z.object({ success, data: rule }),
        bodyOf: (rule) => ({ success: true, data: rule }),
      },
    },
    updateGuardRule: { route: bodyFields(guardRuleChanges) },
    deleteGuardRule: {
      response: { shape: () => z.object({ success }), bodyOf: () => ({ success: true }) },
    },
    checkGuardRule: {
      request: checkBody,
      inputOf: ({ structuredEmailId, email_id: emailId = structuredEmailId, emailId: id = emailId }) => ({
        emailId: id ?? '',
      }),
      response: {
        shape: () => check,
        bodyOf: ({ outcome, matches, reason }) => ({
          matched: outcome === 'matched',
          outcome,
          ...(outcome === 'matched' ? { matchDetails: matches } : {}),
          ...(reason === null ? {} : { reason }),
        }),
      },
    },
    backtestGuardRule: { route: bodyFields(triedRule) },
    backtestSavedGuardRule: {
      request: backtestSpan.nullish(),
      inputOf: (request, usual) => usual(backtestSpan.parse(request)),
    },
  },
});
