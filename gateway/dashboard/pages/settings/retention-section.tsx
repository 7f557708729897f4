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

/** How long mail is kept. */
export function RetentionSection() {
  const { data, error, refresh } = useLiveQuery({ query: RETENTION, variables: {}, kinds: [] });
  const retention = data?.viewer.retention;
  const about = `Older mail is removed within hours, and for good. ${
    retention?.isDefault === true ? 'These are the days of this service; yours go before them.' : ''
  }`;
  return (
    <Section title="How long mail is kept" about={about}>
      {error !== undefined && <ErrorNote error={error} retry={refresh} />}
      {retention === undefined && error === undefined && <Skeleton h={200} />}
      {retention !== undefined && <RetentionForm retention={retention} done={refresh} />}
    </Section>
  );
}

type ShownRetention = ResultOf<typeof RETENTION>['viewer']['retention'];

const FIELDS = [
  ['rawDays', 'Raw messages and attachments, days', 'Not longer than bodies.'],
  ['bodyDays', 'Bodies, days', 'Texts, and what searches find in them. Not longer than everything else.'],
  ['metadataDays', 'Everything else, days', 'Subjects, people, deliveries: all that is known of a mail.'],
] as const;

/** A field is empty where nothing is removed. */
type Days = number | '';

function RetentionForm({ retention, done }: { retention: ShownRetention; done: () => void }) {
  const { act, isBusy } = useAct(UPDATE_RETENTION, { quiet: true, done: 'Mail is kept so long from now on.' });
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
    <form onSubmit={form.onSubmit(() => void save())} noValidate aria-label="How long mail is kept">
      <Stack>
        {FIELDS.map(([name, label, description]) => (
          <NumberInput
            key={name}
            label={label}
            description={description}
            placeholder="for ever"
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
