import { Anchor, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { VariablesOf } from '../../graphql.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { formatCount } from '../../parts/counted.ts';
import { Row, RowList } from '../../parts/row-list.tsx';
import { StatusBadge } from '../../parts/status-badge.tsx';
import { ADDRESSES, routeOf, type ShownAddress } from './address-documents.ts';

const PAGE = 30;

/** The first `pages` pages of addresses. `openHref` returns the link of an address. */
export function AddressList({
  filter,
  pages,
  more,
  openHref,
  empty,
}: {
  filter: Pick<VariablesOf<typeof ADDRESSES>, 'domainId' | 'filter'>;
  pages: number;
  more: () => void;
  openHref: (id: string) => string;
  empty: ReactNode;
}) {
  return (
    <RowList
      label="Addresses"
      read={(after) => ({
        query: ADDRESSES,
        variables: { first: PAGE, after, ...filter },
        kinds: ['EMAIL_RECEIVED', 'DOMAIN_VERIFIED', 'DOMAIN_RECORDS_LOST'],
        types: ['EmailAddress', 'Domain'],
      })}
      pageOf={({ emailAddresses }) => emailAddresses}
      pages={pages}
      more={more}
      empty={empty}
    >
      {(address) => <AddressRow key={address.id} address={address} href={openHref(address.id)} />}
    </RowList>
  );
}

function AddressRow({ address, href }: { address: ShownAddress; href: string }) {
  const { emailStatistics: mail } = address;
  const state = address.isReceiving
    ? ({ status: 'receives mail', tone: 'good' } as const)
    : address.isActive
      ? ({ status: 'unreachable', tone: 'warning' } as const)
      : ({ status: 'off', tone: 'quiet' } as const);
  return (
    <Row
      name={
        <>
          <Anchor component={Link} href={href} fw={600} size="sm" className="postroom-wrap">
            {address.address}
          </Anchor>
          <CopyButton text={address.address} label={`Copy ${address.address}`} />
          <StatusBadge {...state} />
          <Text size="sm" className="postroom-wrap">
            {routeOf(address)}
          </Text>
        </>
      }
      about={`${formatCount(mail.last24Hours)} in 24 h, ${formatCount(mail.last7Days)} in 7 days, ${formatCount(mail.last30Days)} in 30 days`}
    >
      {address.warning}
    </Row>
  );
}
