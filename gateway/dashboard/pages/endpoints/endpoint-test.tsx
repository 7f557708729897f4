import { Alert, Button, Group, Paper, Select, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { graphql, type ResultOf } from '../../graphql.ts';
import { IconPlayerPlay } from '../../parts/icons.ts';
import { needs } from '../../parts/needs.ts';
import { useAct } from '../../parts/use-act.ts';
import { Json } from '../activity/json.tsx';
import type { Endpoint } from './endpoint-documents.ts';
import { formats } from './endpoint-words.ts';

const TEST = graphql(`
  mutation DashboardTestEndpoint($input: TestEndpointInput!) {
    testEndpoint(input: $input) {
      __typename
      ... on TestEndpointPayload { isSuccessful message statusCode responseTimeMs responseBody payload urlTested }
      ... on Error { message code }
    }
  }
`);

type Result = Extract<ResultOf<typeof TEST>['testEndpoint'], { __typename: 'TestEndpointPayload' }>;

/** Sends a sample through the same code as real mail, and shows the request and the response. */
export function EndpointTest({ endpoint }: { endpoint: Endpoint }) {
  const isWebhook = endpoint.__typename === 'WebhookEndpoint';
  const [format, setFormat] = useState<keyof typeof formats>(isWebhook ? endpoint.format : 'NATIVE');
  const [url, setUrl] = useState('');
  const [result, setResult] = useState<Result | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const { act, isBusy } = useAct(TEST, { quiet: true });
  const run = async () => {
    const outcome = await act({
      input: { id: endpoint.id, ...(isWebhook ? { format, overrideUrl: url.trim() === '' ? null : url.trim() } : {}) },
    });
    setProblem(outcome.problem?.message ?? null);
    setResult(outcome.payload);
  };
  return (
    <Stack gap="md">
      <Text size="sm" maw="65ch">
        Sends a sample email in the same way as real mail, with the same payload, signature and URL rules.{' '}
        {isWebhook ? 'The test is not counted.' : 'The email is really sent and is listed among your sent emails.'}
      </Text>
      <Group align="flex-end" gap="sm">
        {isWebhook && (
          <>
            <Select
              label="Format"
              allowDeselect={false}
              value={format}
              onChange={(value) => setFormat(value as keyof typeof formats)}
              data={Object.entries(formats).map(([value, label]) => ({ value, label }))}
            />
            <TextInput
              label="URL for this test only"
              placeholder={endpoint.url}
              value={url}
              onChange={({ currentTarget }) => setUrl(currentTarget.value)}
              w={{ base: '100%', sm: 320 }}
            />
          </>
        )}
        <Button
          {...needs('endpoints')}
          onClick={() => void run()}
          loading={isBusy}
          leftSection={<IconPlayerPlay size={16} aria-hidden />}
        >
          Send test
        </Button>
      </Group>
      <div aria-live="polite">
        {problem !== null && (
          <Alert color="red" variant="outline" title="The test failed">
            {problem}
          </Alert>
        )}
        {result !== null && (
          <Paper
            withBorder
            p="md"
            bg="var(--postroom-raised)"
            data-test-result={result.isSuccessful ? 'success' : 'failure'}
          >
            <Stack gap="sm">
              <Alert
                color={result.isSuccessful ? 'green' : 'red'}
                variant="outline"
                title={result.isSuccessful ? 'The test succeeded' : 'The test failed'}
              >
                {result.message} {result.statusCode !== null && `The response status was ${result.statusCode}.`} It took{' '}
                {result.responseTimeMs} ms.
                {result.urlTested !== null && ` URL: ${result.urlTested}`}
              </Alert>
              {result.responseBody !== null && result.responseBody !== '' && (
                <Json text={result.responseBody} label="Response" />
              )}
              {result.payload !== null && <Json text={JSON.stringify(result.payload)} label="Request" />}
            </Stack>
          </Paper>
        )}
      </div>
    </Stack>
  );
}
