import { Anchor, Checkbox, Group, PasswordInput, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import { graphql } from '../../graphql.ts';
import { Command } from '../../parts/command.tsx';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { needs } from '../../parts/needs.ts';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { useAct } from '../../parts/use-act.ts';
import type { Endpoint } from './endpoint-documents.ts';

const ROTATE = graphql(`
  mutation DashboardRotateSecret($input: RotateEndpointSecretInput!) {
    rotateEndpointSecret(input: $input) {
      __typename
      ... on RotateEndpointSecretPayload { endpoint { __typename id signingSecrets { secret validUntil } verificationToken } }
      ... on Error { message code }
    }
  }
`);

const VERIFY = `import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.POSTROOM_SECRET);   // whsec_…
// In your handler. body is the unparsed text of the request.
const payload = webhook.verify(body, request.headers);`;

/** Signing secrets of an endpoint, their rotation, and sample code that verifies a request. */
export function SigningTab({ endpoint }: { endpoint: Extract<Endpoint, { __typename: 'WebhookEndpoint' }> }) {
  const [isTokenReplaced, setTokenReplaced] = useState(false);
  const { act } = useAct(ROTATE, { done: 'A new secret was created. The old secret stays valid for 24 hours.' });
  return (
    <Stack gap="lg" maw={760}>
      <section aria-labelledby="secrets-title">
        <Title order={2} id="secrets-title" mb="xs">
          Signing secrets
        </Title>
        <Text size="sm" c="dimmed" mb="sm">
          Requests are signed according to{' '}
          <Anchor
            href="https://www.standardwebhooks.com"
            target="_blank"
            rel="noopener noreferrer"
            inherit
            underline="always"
          >
            Standard Webhooks
          </Anchor>
          , with the headers webhook-id, webhook-timestamp and webhook-signature.
        </Text>
        <Stack gap="sm">
          {endpoint.signingSecrets.map(({ secret, validUntil }, at) => (
            <Secret
              key={secret}
              label={at === 0 ? 'Secret' : 'Previous secret'}
              value={secret}
              validUntil={validUntil}
            />
          ))}
          <Secret
            label="Verification token (X-Webhook-Verification-Token)"
            value={endpoint.verificationToken}
            validUntil={null}
          />
        </Stack>
        <Group mt="md">
          <ConfirmButton
            {...needs('endpoints')}
            label="Rotate secret"
            question="Rotate the signing secret?"
            about="For 24 hours, requests have a signature for each secret so that your receiver can switch. After that the old secret is invalid."
            confirm="Rotate secret"
            act={() => act({ input: { id: endpoint.id, replaceVerificationToken: isTokenReplaced } })}
          >
            <Checkbox
              label="Also replace the verification token now"
              checked={isTokenReplaced}
              onChange={({ currentTarget }) => setTokenReplaced(currentTarget.checked)}
            />
          </ConfirmButton>
        </Group>
      </section>
      <section aria-labelledby="verify-title">
        <Title order={2} id="verify-title" mb="xs">
          Verify a request
        </Title>
        <Command text={VERIFY} label="Copy code" />
      </section>
    </Stack>
  );
}

function Secret({ label, value, validUntil }: { label: string; value: string; validUntil: string | null }) {
  return (
    <Group gap="xs" align="flex-end" wrap="nowrap">
      <PasswordInput
        label={label}
        value={value}
        readOnly
        ff="monospace"
        flex={1}
        visibilityToggleButtonProps={{ 'aria-label': `Show ${label.toLowerCase()}`, tabIndex: 0 }}
        description={validUntil === null ? undefined : <RelativeTime at={validUntil} prefix="valid until " />}
      />
      <CopyButton text={value} label={`Copy ${label.toLowerCase()}`} />
    </Group>
  );
}
