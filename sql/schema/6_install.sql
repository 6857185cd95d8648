-- Says at once what would make the first run fail.
SELECT fsbench._check_preloaded();
