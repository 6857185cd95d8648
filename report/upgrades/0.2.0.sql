-- They take the name of a study, too.
DROP FUNCTION fsbench._page(text, bigint[], text, text, text, boolean, boolean);
DROP FUNCTION fsbench._report(text, bigint[], text, text, text, boolean, boolean);
