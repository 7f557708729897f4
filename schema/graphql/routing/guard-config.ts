import type { ExplicitConfig, PromptConfig } from '../../../core/routing/guard-config.ts';
import type { Fields } from '../../../operations/capability/capability.ts';
import {
  explicitConfig,
  guardConfigInput,
  promptConfig,
  readGuardConfig,
} from '../../../operations/routing/guard-config-shapes.ts';
import { builder } from '../builder.ts';
import { addInputType, addOutputType, describe, inputTypeFor, objectFields } from '../capability-shapes.ts';
import { EmailNode, GuardRuleNode } from '../nodes.ts';

/** Adds a type of config. A form may have stored a mode that GraphQL does not have. */
function addConfigType<Config extends object>(name: string, shape: Fields) {
  return builder.objectRef<Config>(name).implement({
    description: describe(shape),
    fields: (t) =>
      objectFields(t as never, shape, {
        isOfDomain: false,
        read(config: Config, field) {
          const value = (config as Record<string, unknown>)[field];
          if (field === 'mode') return value === 'simple' || value === 'advanced' ? value : null;
          return field === 'from' && value !== undefined ? { aligned: false, ...(value as object) } : value;
        },
      }) as never,
  });
}

const ExplicitGuardConfig = addConfigType<ExplicitConfig>('ExplicitGuardConfig', explicitConfig);
const PromptGuardConfig = addConfigType<PromptConfig>('PromptGuardConfig', promptConfig);

const GuardConfigUnion = builder.unionType('GuardConfig', {
  description: 'Configuration of a guard rule; depends on the type of the rule.',
  types: [ExplicitGuardConfig, PromptGuardConfig],
  resolveType: (config) => ('prompt' in config ? PromptGuardConfig : ExplicitGuardConfig),
});

addOutputType('GuardConfig', GuardConfigUnion);
addInputType('GuardConfigInput', inputTypeFor(guardConfigInput), readGuardConfig);

builder.objectField(EmailNode, 'guardRule', (t) =>
  t.field({
    type: GuardRuleNode,
    nullable: true,
    description:
      'The rule that matched or whose model did not respond, whatever happened to the email since. Null if there is none or it was deleted.',
    resolve: ({ guardRuleId }) => guardRuleId,
  }),
);
