import { Select } from '@mantine/core';
import type { UrlFilters } from './url-filters.ts';

/** A choice that filters a list. `any`: what is shown without a choice, and the name of the button that removes it. */
export function FilterSelect({
  name,
  label,
  choices,
  filters,
  width,
  placeholder = label,
  any = `Any ${label.toLowerCase()}`,
  onChoice,
}: {
  name: string;
  label: string;
  choices: readonly { value: string; label: string }[];
  filters: UrlFilters;
  width: number;
  placeholder?: string;
  any?: string;
  onChoice?: () => void;
}) {
  return (
    <Select
      aria-label={label}
      placeholder={placeholder}
      data={[...choices]}
      value={filters.search.get(name)}
      onChange={(value) => {
        onChoice?.();
        filters.filterBy(name, value);
      }}
      clearable
      clearButtonProps={{ 'aria-label': any }}
      w={width}
    />
  );
}
