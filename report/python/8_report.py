# Functions that SQL calls.

FORMATS = {'html': lambda model: as_page(model), 'text': lambda model: as_text(model), 'markdown': lambda model: as_markdown(model),
           'svg': lambda model: picture_of(model) + '\n'}
# A longer page is refused where it was typed.
MOST_TYPED = 4000000


def picture_of(model):
    if model['kind'] != 'study':
        return verdict_svg(model, True)
    return claims_svg(model, True) or refuse('55000', 'study "%s" has no claim with an interval' % visible(model['title']), 'None of its claims is decided by one, or none was tested.',
                                             'See fsbench.study_claims() for why.')


def report(name, run_ids, label, metric, form, redact, force, study):
    if form not in FORMATS:
        refuse('22023', 'format must not be null' if form is None else 'format "%s" does not exist' % visible(form), 'A report is a page, or a text for the mail itself.', 'Use html, text or markdown. The picture alone is made by fsbench.chart_svg().')
    if [name, run_ids, label, study].count(None) != 3:
        refuse('22023', 'a report takes an experiment, a study, run_ids, or a history', 'Exactly one of them must be given.',
               "Call it as in SELECT fsbench.report('new server'), or SELECT fsbench.report(run_ids => '{7,8}').")
    # Where an experiment is called like a study, the name alone is the experiment's.
    if name is not None and (is_experiment(name) or not is_known_study(name)):
        model, arguments = read_experiment(name), [literal(name)]
    elif label is None and run_ids is None:
        model, arguments = read_study(name if study is None else study), [literal(name) if study is None else 'study => ' + literal(study)]
    elif label is not None:
        model, arguments = read_history(label, metric, redact), ['history => ' + literal(label)] + (['metric => ' + literal(metric)] if metric != 'tps' else [])
    else:
        model, arguments = read_runs(run_ids), ["run_ids => '{%s}'" % ','.join(map(str, run_ids))]
    if model['kind'] != 'study':
        read_series(model)
    read_facts(model, redact)
    if redact:
        model = redacted(model)
        arguments.append('redact => true')
    made = FORMATS[form](model)
    if form == 'html' and not force and is_typed():
        size = bytes_in_words(len(made))
        detail = 'psql pads each of its lines to the longest one, which makes hundreds of megabytes.'
        command = visible('In a shell: psql -XAtqc %s -o report.html' % in_shell('SELECT fsbench.report(%s)' % ', '.join(arguments)))
        if len(made) > MOST_TYPED:
            refuse('54000', 'a page of %s is not for a terminal' % size, detail, command)
        plpy.notice('a page of %s is not for a terminal' % size, detail=detail, hint=command)
    return made


def in_shell(text):
    """One word for a shell, and for a person where nothing in it means something between double quotes."""
    return shlex.quote(text) if re.search(r'[$`"\\!]', text) else '"%s"' % text


def is_typed():
    """psql sends what is typed with its semicolon, and what stands after -c as it is."""
    row = query("SELECT pg_catalog.current_setting('application_name') AS program, pg_catalog.current_query() AS query")[0]
    return row['program'] == 'psql' and row['query'].rstrip().endswith(';')


def report_or_refusal(*arguments):
    try:
        return {'page': report(*arguments), 'refusal': None}
    except Refused as refused:
        return {'page': None, 'refusal': list(refused.args)}
