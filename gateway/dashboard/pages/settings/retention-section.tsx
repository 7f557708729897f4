import { Alert, Button, Group, NumberInput, Skeleton, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { graphql, type ResultOf } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { ErrorNote } from '../../parts/error-note.tsx';
import { useAct } from '../../parts/use-act.ts';
import { Section } from './section.tsx';

const RETENTION = graphql(`
  query DashboardRetention { viewer { retention { rawDays bodyDays metadataDays isDefault } } }
`);
const UPDATE_RETENTION = graphql(`
  mutation ChangeRetention($input: UpdateRetentionInput!) {
    updateRetention(input: $input) {
      __typename
      ... on UpdateRetentionPayload { retention { rawDays bodyDays metadataDays isDefault } }
      ... on Error { message code }
    }
  }
`);

/** Retention periods. */
export function RetentionSection() {
  const { data, error, refresh } = useLiveQuery({ query: RETENTION, variables: {}, kinds: [] });
  const retention = data?.viewer.retention;
  const about = `Older mail is permanently removed within hours. ${
    retention?.isDefault === true ? 'These are the service defaults; your values override them.' : ''
  }`;
  return (
    <Section title="Retention" about={about}>
      {error !== undefined && <ErrorNote error={error} retry={refresh} />}
      {retention === undefined && error === undefined && <Skeleton h={200} />}
      {retention !== undefined && <RetentionForm retention={retention} done={refresh} />}
    </Section>
  );
}

type ShownRetention = ResultOf<typeof RETENTION>['viewer']['retention'];

const FIELDS = [
  ['rawDays', 'Raw messages and attachments (days)', 'At most as long as bodies.'],
  ['bodyDays', 'Bodies (days)', 'Texts and their search index. At most as long as all other data.'],
  ['metadataDays', 'All other data (days)', 'Subjects, people, deliveries and all other data of an email.'],
] as const;

/** An empty field means that nothing is removed. */
type Days = number | '';

function RetentionForm({ retention, done }: { retention: ShownRetention; done: () => void }) {
  const { act, isBusy } = useAct(UPDATE_RETENTION, { quiet: true, done: 'The retention settings were saved.' });
  const [trouble, setTrouble] = useState<string | null>(null);
  const form = useForm<Record<(typeof FIELDS)[number][0], Days>>({
    initialValues: {
      rawDays: retention.rawDays ?? '',
      bodyDays: retention.bodyDays ?? '',
      metadataDays: retention.metadataDays ?? '',
    },
  });
  const save = async () => {
    setTrouble(null);
    const daysOf = (days: Days) => (days === '' ? null : days);
    const { rawDays, bodyDays, metadataDays } = form.values;
    const { problem } = await act({
      input: { rawDays: daysOf(rawDays), bodyDays: daysOf(bodyDays), metadataDays: daysOf(metadataDays) },
    });
    if (problem !== null) return setTrouble(problem.message);
    form.resetDirty();
    done();
  };
  return (
    <form onSubmit={form.onSubmit(() => void save())} noValidate aria-label="Retention">
      <Stack>
        {FIELDS.map(([name, label, description]) => (
          <NumberInput
            key={name}
            label={label}
            description={description}
            placeholder="no limit"
            min={1}
            max={36_500}
            allowDecimal={false}
            allowNegative={false}
            {...form.getInputProps(name)}
          />
        ))}
        {trouble !== null && (
          <Alert color="red" variant="outline" role="alert">
            {trouble}
          </Alert>
        )}
        <Group>
          <Button type="submit" loading={isBusy} disabled={!form.isDirty()}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
