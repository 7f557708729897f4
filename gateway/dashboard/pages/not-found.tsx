import { Button } from '@mantine/core';
import { IconMapOff } from '@tabler/icons-react';
import { Link } from 'wouter';
import { EmptyState } from '../parts/empty-state.tsx';
import { PageHeader } from '../parts/page-header.tsx';

/** For an address that no page has. */
export function NotFoundPage() {
  return (
    <>
      <PageHeader title="No such page" />
      <EmptyState
        icon={IconMapOff}
        title="Nothing is here"
        about="The address may have been copied in part, or what it named is gone."
      >
        <Button component={Link} href="/" variant="default">
          To the overview
        </Button>
      </EmptyState>
    </>
  );
}
