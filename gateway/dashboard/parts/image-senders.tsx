import { Button } from '@mantine/core';
import { useQuery } from 'urql';
import { graphql } from '../graphql.ts';
import { needs } from './needs.ts';
import { notify } from './notify.ts';
import { useAct } from './use-act.ts';

const SENDER = graphql(`
  query ImageSenderOfEmail($id: ID!) {
    email(id: $id) { id type from { address } content { authentication { sender { verdict } } } }
  }
`);

const ADD_IMAGE_SENDER = graphql(`
  mutation AlwaysShowImages($input: AddImageSenderInput!) {
    addImageSender(input: $input) { __typename ... on AddImageSenderPayload { sender { address } } }
  }
`);

/** Button that always shows the images of the sender. Nothing if no domain confirms that the email is from this sender. */
export function AlwaysShowImages({ emailId, done }: { emailId: string; done: () => void }) {
  const [{ data }] = useQuery({ query: SENDER, variables: { id: emailId } });
  const { act, isBusy } = useAct(ADD_IMAGE_SENDER);
  const email = data?.email;
  if (email?.type !== 'RECEIVED' || email.content.authentication?.sender.verdict !== 'VERIFIED') return null;
  const { address } = email.from;
  const add = async () => {
    if ((await act({ input: { address } })).problem !== null) return;
    notify({
      message: `Images from ${address} are always shown. You can change this in the settings.`,
      color: 'green',
    });
    done();
  };
  return (
    <Button
      {...needs('organize', 'everything')}
      size="compact-sm"
      variant="default"
      maw="100%"
      title={`Always show images from ${address}`}
      loading={isBusy}
      onClick={() => void add()}
    >
      Always show images from {address}
    </Button>
  );
}
