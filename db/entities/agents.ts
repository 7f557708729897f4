import { defineEntity, p } from '@mikro-orm/core';

/** A workspace that an agent started, and the code by which the person of the address confirms it. */
export const AgentSignUpSchema = defineEntity({
  name: 'AgentSignUp',
  tableName: 'agent_sign_up',
  properties: {
    workspaceId: p.text().primary(),
    /** of the person, in lower case */
    email: p.text(),
    name: p.text(),
    keyId: p.text(),
    /** by which a repeated request is recognized */
    requestSha256: p.blob().$type<Buffer>().unique('agent_sign_up_request_sha256_key'),
    codeHmac: p.blob().$type<Buffer>(),
    /** wrong ones of the present code */
    codeTries: p.integer().default(0),
    codesSent: p.integer().default(1),
    codeExpiresAt: p.datetime(3),
    createdAt: p.datetime(3),
    confirmedAt: p.datetime(3).nullable(),
  },
  indexes: [
    { name: 'agent_sign_up_waiting', properties: ['createdAt'], where: 'confirmed_at IS NULL' },
    { name: 'agent_sign_up_email', properties: ['email'], where: 'confirmed_at IS NULL' },
  ],
});
