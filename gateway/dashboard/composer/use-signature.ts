import { useQuery } from 'urql';
import { looksLikeMailbox } from './address-text.ts';
import { SIGNATURES } from './composer-documents.ts';
import { signerOf } from './signature.ts';

/** Returns the signature of the sender; null if the address has none or its signature cannot be read, undefined while it is read. */
export function useSignature(from: string): string | null | undefined {
  const signer = signerOf(from);
  const isPaused = !looksLikeMailbox(from);
  const [{ data, error, operation }] = useQuery({ query: SIGNATURES, variables: { search: signer }, pause: isPaused });
  if (isPaused) return undefined;
  if (error !== undefined && data === undefined) return null;
  // The data of the former sender stays until those of this one are there.
  if (data === undefined || operation?.variables.search !== signer) return undefined;
  return data.emailAddresses.edges.find(({ node }) => node.address === signer)?.node.signature ?? null;
}
