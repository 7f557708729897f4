import { useSearchParams } from 'wouter';

/** Filters and pages of a list, kept in the address of the page, so that a link or a reload shows the same list. */
export interface UrlFilters {
  search: URLSearchParams;
  /** Changes filters; null or an empty text removes one. */
  set: (changes: Record<string, string | null>) => void;
  /** Sets one filter, and shows the first page. */
  filterBy: (name: string, value: string | null) => void;
  isFiltered: boolean;
  /** Removes all filters. */
  clear: () => void;
  /** number of pages that are shown, from 1 */
  pages: number;
  showMore: () => void;
}

/** Returns the filters with these names in the address of the page. */
export function useUrlFilters(names: readonly string[]): UrlFilters {
  const [search, setSearch] = useSearchParams();
  const set = (changes: Record<string, string | null>) =>
    setSearch((params) => {
      for (const [name, value] of Object.entries(changes))
        if (value === null || value === '') params.delete(name);
        else params.set(name, value);
      return params;
    });
  const pages = Math.max(1, Number(search.get('pages')) || 1);
  return {
    search,
    set,
    filterBy: (name, value) => set({ [name]: value, pages: null }),
    isFiltered: names.some((name) => search.has(name)),
    clear: () => set(Object.fromEntries(names.map((name) => [name, null]))),
    pages,
    showMore: () => set({ pages: String(pages + 1) }),
  };
}

/** Returns a time of this browser's zone, such as `2026-11-22T10:30`, in UTC; null if it is none. */
export function readLocalTime(local: string | null): string | null {
  const at = Date.parse(local ?? '');
  return Number.isNaN(at) ? null : new Date(at).toISOString();
}
