import type { Scope } from '../core/key-rights.ts';

/** What a key needs for a field of a root. */
export interface FieldNeed {
  scope: Scope;
  /** whether what it does can be limited to one domain exactly, so that keys of a domain may use it */
  isOfDomain: boolean;
}

const read: FieldNeed = { scope: 'read', isOfDomain: false };
const send: FieldNeed = { scope: 'send', isOfDomain: false };
const manage: FieldNeed = { scope: 'manage', isOfDomain: false };

/** By type and field. A field that is missing here takes a key with full rights. */
export const scopesOfFields: Readonly<Record<string, Readonly<Record<string, FieldNeed>>>> = {
  Query: {
    apiKey: read,
    apiKeys: read,
    batch: read,
    delivery: read,
    dmarcReport: read,
    dmarcSummary: read,
    domain: read,
    domainByName: read,
    domainCounts: read,
    domains: read,
    email: read,
    emailAddress: read,
    emailAddresses: read,
    emails: read,
    endpoint: read,
    endpoints: read,
    events: read,
    explainRoute: read,
    guardLimits: read,
    guardRule: read,
    guardRules: read,
    inbox: read,
    labels: read,
    node: read,
    nodes: read,
    overview: read,
    recipient: read,
    suppression: read,
    suppressions: read,
    thread: read,
    threads: read,
    viewer: read,
    waitForEmail: read,
  },
  Mutation: {
    sendEmail: send,
    sendEmails: send,
    replyToEmail: send,
    forwardEmail: send,
    rescheduleEmail: send,
    pauseEmail: send,
    resumeEmail: send,
    cancelEmail: send,
    cancelBatch: send,
    retryEmail: send,
    retryDelivery: send,

    backtestGuardRule: read,
    backtestSavedGuardRule: read,
    checkGuardRule: read,

    createApiKey: manage,
    createDomain: manage,
    createEmailAddress: manage,
    createEmailEndpoint: manage,
    createEmailGroupEndpoint: manage,
    createGuardRule: manage,
    createWebhookEndpoint: manage,
    deleteDomain: manage,
    deleteEmailAddress: manage,
    deleteEndpoint: manage,
    deleteGuardRule: manage,
    liftSuppression: manage,
    mergeThreads: manage,
    moveEmails: manage,
    releaseEmail: manage,
    replayDeliveries: manage,
    reprocessEmails: manage,
    revokeApiKey: manage,
    rotateDkimKey: manage,
    rotateEndpointSecret: manage,
    simulateInbound: manage,
    splitThread: manage,
    suppressAddress: manage,
    testEndpoint: manage,
    updateDomain: manage,
    updateEmail: manage,
    updateEmailAddress: manage,
    updateEmailEndpoint: manage,
    updateEmailGroupEndpoint: manage,
    updateEmails: manage,
    updateGuardRule: manage,
    updateThreads: manage,
    updateWebhookEndpoint: manage,
    verifyDomain: manage,
    verifyDomains: manage,
  },
  Subscription: {
    deliveryUpdated: read,
    domainUpdated: read,
    emailReceived: read,
    emailUpdated: read,
    events: read,
    threadUpdated: read,
  },
};

/** What mutations show, beside ids and states, to keys that cannot read: what is made by the call, and what became of it. */
export const shownWithoutReading: Readonly<Record<string, readonly string[]>> = {
  createApiKey: ['CreateApiKeyPayload.secret'],
  createWebhookEndpoint: ['WebhookEndpoint.signingSecrets'],
  rotateEndpointSecret: ['WebhookEndpoint.signingSecrets'],
  sendEmails: ['SendEmailsPayload.refused'],
};
