import { Alert, Button, Group, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { Link, useLocation } from 'wouter';
import { graphql } from '../../graphql.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { formErrors } from '../../parts/form-errors.ts';
import { needs } from '../../parts/needs.ts';
import { useAct } from '../../parts/use-act.ts';
import type { Endpoint } from './endpoint-documents.ts';
import { EndpointFields } from './endpoint-fields.tsx';
import { changesOf, valuesOf } from './endpoint-values.ts';
import { useEndpointUpdate } from './use-endpoint-update.ts';

const DELETE = graphql(`
  mutation DashboardDeleteEndpoint($id: ID!) {
    deleteEndpoint(input: { id: $id }) {
      __typename
      ... on DeleteEndpointPayload { deletedId emailAddresses catchAllDomains endedDeliveryCount guardRuleCount }
      ... on Error { message code }
    }
  }
`);

/** All settings of an endpoint, and its deletion. */
export function EndpointSettings({ endpoint }: { endpoint: Endpoint }) {
  const [, go] = useLocation();
  const update = useEndpointUpdate(endpoint.__typename, {
    quiet: true,
    done: 'Saved. The next delivery uses the new settings.',
  });
  const remove = useAct(DELETE, { done: 'The endpoint was deleted.' });
  const form = useForm({ mode: 'uncontrolled', initialValues: valuesOf(endpoint) });
  const save = async (values: typeof form.values) => {
    form.clearErrors();
    const problem = await update.act(changesOf(endpoint, values));
    if (problem === null) form.resetDirty();
    else form.setErrors(formErrors(problem, form.getValues()));
  };
  const { emailAddresses, catchAllDomains } = endpoint;
  const users = emailAddresses.totalCount + catchAllDomains.length;
  return (
    <Stack gap="lg" maw={760}>
      <form onSubmit={form.onSubmit((values) => void save(values))} noValidate>
        <Stack>
          <EndpointFields endpoint={endpoint} form={form} />
          {form.errors['problem'] !== undefined && (
            <Alert color="red" variant="outline" role="alert">
              {form.errors['problem']}
            </Alert>
          )}
          <Group>
            <Button {...needs('endpoints')} type="submit" loading={update.isBusy}>
              Save
            </Button>
            <Button variant="default" component={Link} href={`/endpoints/${endpoint.id}?tab=test`}>
              Test endpoint
            </Button>
          </Group>
        </Stack>
      </form>
      <Alert color="red" variant="outline" title="Delete endpoint">
        <Stack gap="sm" align="flex-start">
          {users === 0
            ? 'No address uses this endpoint. Pending deliveries stop. Emails are kept.'
            : `${users === 1 ? 'One address or domain uses' : `${users} addresses and domains use`} this endpoint. Their mail will only be stored. Pending deliveries stop. Emails are kept.`}
          <ConfirmButton
            {...needs('endpoints')}
            label="Delete endpoint"
            color="red"
            question={`Delete ${endpoint.name}?`}
            about="You cannot undo this."
            confirm="Delete endpoint"
            act={async () => {
              const { problem } = await remove.act({ id: endpoint.id });
              if (problem === null) go('/endpoints');
            }}
          />
        </Stack>
      </Alert>
    </Stack>
  );
}
