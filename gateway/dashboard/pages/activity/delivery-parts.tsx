import { Accordion, Alert, Code, Group, List, Stack } from '@mantine/core';
import { useState } from 'react';
import { graphql, type ResultOf, record } from '../../graphql.ts';
import { useLiveQuery } from '../../live/use-live-query.ts';
import { Block, CopyButton } from '../../parts/command.tsx';
import { QuietButton } from '../../parts/controls.tsx';
import { RelativeTime } from '../../parts/relative-time.tsx';
import { Loaded } from '../../parts/section.tsx';
import { CautionAlert, ErrorAlert, Fine, Small, SmallLink, StatusBadge, Strong } from '../../parts/text.tsx';
import { chooseTone, formatDuration, formatSize } from './email-words.ts';

/** What both pages of deliveries show of each. */
export const DELIVERY_PARTS = graphql(`
  fragment DeliveryParts on Delivery {
    id type event status statusCode error createdAt nextAttemptAt attemptCount
    actions { place problem results { type status message email { id } } }
    attempts { number startedAt durationMs outcome statusCode error responseBody requestHeaders { name value } }
  }
`);
type Delivery = ResultOf<typeof DELIVERY_PARTS>;

/** What happened to a delivery, newest attempt first, and its payload. `of` names it. */
export function DeliveryHistory({ delivery, of }: { delivery: Delivery; of: string }) {
  const { id, type, actions, attempts } = delivery;
  return (
    <>
      {actions !== null && <ActionResults actions={actions} of={of} />}
      {attempts.toReversed().map((attempt) => (
        <DeliveryAttemptCard key={attempt.number} attempt={attempt} of={of} />
      ))}
      {type === 'WEBHOOK' && <DeliveryPayload deliveryId={id} of={of} />}
    </>
  );
}

/** One webhook attempt: the response and the request. `of` names the delivery. */
function DeliveryAttemptCard({ attempt, of }: { attempt: Delivery['attempts'][number]; of: string }) {
  const { number, startedAt, durationMs, outcome, statusCode, error, responseBody, requestHeaders } = attempt;
  return (
    <Stack gap={6} role="group" aria-label={`Attempt ${number} of ${of}`}>
      <Group gap="xs">
        <Strong>Attempt {number}</Strong>
        <StatusBadge
          status={statusCode === null ? outcome : `${outcome} ${statusCode}`}
          tone={outcome === 'FAILED' ? 'bad' : chooseTone(outcome)}
        />
        <Fine component="span">
          <RelativeTime at={startedAt} />, took {formatDuration(durationMs)}
        </Fine>
      </Group>
      {error !== null && <Small className="postroom-wrap">{error}</Small>}
      {responseBody !== null && responseBody !== '' && (
        <Json text={responseBody} label={`Response to attempt ${number} of ${of}`} />
      )}
      {requestHeaders.length > 0 && (
        <Accordion variant="contained" chevronPosition="left">
          <Accordion.Item value="headers">
            <Accordion.Control>
              <Small>Request header fields ({requestHeaders.length})</Small>
            </Accordion.Control>
            <Accordion.Panel>
              <Code block tabIndex={0} role="region" aria-label={`Request headers of attempt ${number}, ${of}`}>
                {requestHeaders.map(({ name, value }) => `${name}: ${value}`).join('\n')}
              </Code>
            </Accordion.Panel>
          </Accordion.Item>
        </Accordion>
      )}
    </Stack>
  );
}

const PAYLOAD = record(`delivery { id payload(maxBytes: 200000) { text sizeBytes isCut url isEndpointChanged } }`);

/** Payload of a webhook, loaded on request. `of` names the delivery. */
function DeliveryPayload({ deliveryId, of }: { deliveryId: string; of: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Stack gap="xs">
      <QuietButton
        w="fit-content"
        label={isOpen ? 'Hide payload' : 'Show payload'}
        icon="braces"
        size="xs"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      />
      {isOpen && <Payload deliveryId={deliveryId} of={of} />}
    </Stack>
  );
}

function Payload({ deliveryId, of }: { deliveryId: string; of: string }) {
  const query = useLiveQuery({ query: PAYLOAD, variables: { id: deliveryId } });
  return (
    <Loaded query={query} height={160}>
      {({ delivery }) =>
        delivery?.payload == null ? (
          <Alert color="gray" variant="outline" title="No payload">
            The endpoint or the email was deleted.
          </Alert>
        ) : (
          <Stack gap="xs">
            {delivery.payload.isEndpointChanged && (
              <CautionAlert title="The endpoint has changed since this delivery">
                This is what a retry sends now; what was sent then may have differed.
              </CautionAlert>
            )}
            <Json
              text={delivery.payload.text}
              label={`Payload of ${of}: POST ${delivery.payload.url}, ${formatSize(delivery.payload.sizeBytes)}${delivery.payload.isCut ? ', truncated' : ''}`}
            />
          </Stack>
        )
      }
    </Loaded>
  );
}

/** What became of the actions in the response of a webhook. `of` names the delivery. */
function ActionResults({
  actions: { place, problem, results },
  of,
}: {
  actions: NonNullable<Delivery['actions']>;
  of: string;
}) {
  return (
    <Stack gap={6} role="group" aria-label={`Actions of ${of}`}>
      <Strong>Actions</Strong>
      {problem !== null && (
        <ErrorAlert title="No action ran" className="postroom-wrap">
          {place === null ? problem : `${place}: ${problem}`}
        </ErrorAlert>
      )}
      <List size="sm" type="ordered">
        {results.map(({ type, status, message, email }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: results have no id and never change
          <List.Item key={at} className="postroom-wrap">
            {type.toLowerCase()}, {status.toLowerCase()}: {message}{' '}
            {email !== null && <SmallLink href={`/emails/${email.id}`}>Open email</SmallLink>}
          </List.Item>
        ))}
      </List>
    </Stack>
  );
}

/** Text, indented if it is JSON. */
export function Json({ text, label }: { text: string; label: string }) {
  const shown = formatJson(text);
  return (
    <Stack gap={2}>
      <Group justify="space-between">
        <Fine>{label}</Fine>
        <CopyButton text={shown} label={`Copy: ${label.toLowerCase()}`} />
      </Group>
      <Block text={shown} label={label} />
    </Stack>
  );
}

function formatJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
