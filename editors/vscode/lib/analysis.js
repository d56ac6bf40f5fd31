// Questions about what a session printed, threw and did; pure.
'use strict';

const { Failure } = require('./failure');

const shownSession = (it) => ({ id: it.id, type: it.type, name: it.name });
const relative = (tracked, ts) => ts - tracked.startedAt;
const duration = (tracked) => (tracked.endedAt ?? Date.now()) - tracked.startedAt;

function shownOutput(tracked, { ts, category, text, source }) {
  return { ts, relativeTime: relative(tracked, ts), category, text, source: source ?? null };
}

function pattern(text, isSensitive) {
  try {
    return new RegExp(text, isSensitive ? '' : 'i');
  } catch (error) {
    throw new Failure('E_INVALID_PARAMS', `\`${text}\` is no regular expression: ${error.message}`);
  }
}

const isOf = (category) => (it) => category === undefined || category === 'all' || it.category === category;

function logs(tracked, { count, category, search, since, reverse, showSource }) {
  const total = tracked.outputs.length;
  const ofCategory = tracked.outputs.filter(isOf(category));
  const words = search === undefined ? undefined : pattern(search, false);
  const found = words ? ofCategory.filter((it) => words.test(it.text)) : ofCategory;
  const recent = since === undefined ? found : found.filter((it) => it.ts >= since);
  const page = recent.slice(-count);
  if (!reverse) page.reverse();
  const shown = page.map((it) => {
    const { source, ...rest } = shownOutput(tracked, it);
    return showSource && source ? { ...rest, source } : rest;
  });
  const filtered = { byCategory: total - ofCategory.length, bySearch: ofCategory.length - found.length, byTime: found.length - recent.length };
  return { logs: shown, matched: recent.length, total, filtered, omitted: tracked.outputsDropped, session: shownSession(tracked) };
}

function search(all, { pattern: text, category, contextLines, limit, caseSensitive }) {
  const words = pattern(text, caseSensitive);
  const matches = [];
  const matchesBySession = {};
  let totalMatches = 0;
  for (const tracked of all) {
    tracked.outputs.forEach((output, at) => {
      const found = isOf(category)(output) && words.exec(output.text);
      if (!found) return;
      totalMatches += 1;
      matchesBySession[tracked.id] = (matchesBySession[tracked.id] ?? 0) + 1;
      if (matches.length >= limit) return;
      const { source, ...shown } = shownOutput(tracked, output);
      const context = { before: texts(tracked.outputs.slice(Math.max(0, at - contextLines), at)), after: texts(tracked.outputs.slice(at + 1, at + 1 + contextLines)) };
      matches.push({ sessionId: tracked.id, output: shown, matchText: found[0], ...(contextLines > 0 ? { context } : {}) });
    });
  }
  return { matches, totalMatches, matchesBySession, sessionsSearched: all.length, pattern: text, truncated: totalMatches > matches.length };
}

const texts = (outputs) => outputs.map((it) => it.text);

const FILTERS = ['categories', 'timeRange', 'exclude', 'include', 'sources', 'minLength', 'maxLength'];

function filter(tracked, { filters }) {
  const wrong = Object.keys(filters).find((it) => !FILTERS.includes(it));
  if (wrong) throw new Failure('E_INVALID_PARAMS', `no filter \`${wrong}\``, { details: { known: FILTERS } });
  const { categories, timeRange, exclude, include, sources, minLength, maxLength } = filters;
  const excluded = (exclude ?? []).map((it) => pattern(it, false));
  const included = (include ?? []).map((it) => pattern(it, false));
  const steps = {
    afterCategories: (it) => !categories?.length || categories.includes(it.category),
    afterTime: (it) => {
      const at = relative(tracked, it.ts);
      return at >= (timeRange?.start ?? 0) && at <= (timeRange?.end ?? Infinity);
    },
    afterExclude: (it) => !excluded.some((word) => word.test(it.text)),
    afterInclude: (it) => included.length === 0 || included.some((word) => word.test(it.text)),
    afterSources: (it) => !sources?.length || sources.some((source) => it.source?.file.includes(source)),
    afterLength: (it) => it.text.length >= (minLength ?? 0) && it.text.length <= (maxLength ?? Infinity),
  };
  let left = tracked.outputs;
  const counts = { original: left.length };
  for (const [name, isWanted] of Object.entries(steps)) {
    left = left.filter(isWanted);
    counts[name] = left.length;
  }
  const events = left.map((it) => shownOutput(tracked, it));
  return { events, stats: counts, totalFiltered: left.length, totalInSession: tracked.outputs.length, session: shownSession(tracked) };
}

function exceptions(tracked, { count, withContext, contextLines }) {
  const all = tracked.exceptions;
  const shown = all.slice(-count).map((it) => {
    const at = it.outputs - tracked.outputsDropped;
    const context = { before: texts(tracked.outputs.slice(Math.max(0, at - contextLines), Math.max(0, at))), after: texts(tracked.outputs.slice(Math.max(0, at), at + contextLines)) };
    return {
      exception: { message: it.message, description: it.description, typeName: it.message.split(/[:\s]/, 1)[0] },
      stackTrace: null,
      timeSinceStart: relative(tracked, it.ts),
      location: it.place,
      ...(withContext ? { context } : {}),
    };
  });
  return { exceptions: shown, totalExceptions: all.length, showing: shown.length, session: shownSession(tracked) };
}

function happenings(tracked) {
  const at = (ts, eventType, summary, significance, data) => ({ timestamp: ts, relativeTime: relative(tracked, ts), eventType, summary, significance, data });
  const all = [
    ...tracked.outputs.map((it) => at(it.ts, 'output', it.text.trim().slice(0, 100), 'low', { category: it.category })),
    ...tracked.history.filter((it) => it.reason !== 'exception').map((it) => at(it.ts, 'stopped', `${it.reason} at ${it.place.file}:${it.place.line}`, 'medium', it.place)),
    ...tracked.exceptions.map((it) => at(it.ts, 'exception', it.message, 'high', it.place)),
  ];
  if (tracked.endedAt) all.push(at(tracked.endedAt, 'exit', `ended${tracked.exitCode === undefined ? '' : ` with ${tracked.exitCode}`}`, 'high', { exitCode: tracked.exitCode ?? null }));
  return all.sort((a, b) => a.timestamp - b.timestamp);
}

function timeline(tracked, { eventTypes, window, granularity, fromEnd }) {
  const all = happenings(tracked);
  const first = (type) => all.find((it) => it.eventType === type)?.relativeTime ?? null;
  const milestones = {
    firstOutput: first('output'), firstException: first('exception'), breakpointHits: tracked.history.filter((it) => it.reason === 'breakpoint').length, sessionExit: first('exit'),
  };
  const isWanted = { all: () => true, summary: (it) => it.significance !== 'low', milestones: (it) => it.significance === 'high' }[granularity];
  const wanted = all.filter((it) => isWanted(it) && (!eventTypes?.length || eventTypes.includes(it.eventType)));
  const shown = window === undefined ? wanted : fromEnd ? wanted.slice(-window) : wanted.slice(0, window);
  return { timeline: shown, milestones, duration: duration(tracked), eventCount: shown.length, session: shownSession(tracked) };
}

const counted = (items, key) => {
  const counts = {};
  for (const it of items) counts[key(it)] = (counts[key(it)] ?? 0) + 1;
  return counts;
};
const top = (counts, n) => Object.entries(counts).sort((a, b) => b[1] - a[1]).slice(0, n);

function stats(tracked, { groupBy, includeCharts }) {
  const { outputs } = tracked;
  const byCategory = counted(outputs, (it) => it.category);
  const bySource = counted(outputs.filter((it) => it.source), (it) => it.source.file);
  const overTime = counted(outputs, (it) => new Date(it.ts).toISOString().slice(0, 13));
  const groups = { category: byCategory, source: bySource, hour: overTime, session: { [tracked.id]: outputs.length } }[groupBy];
  const most = Math.max(1, ...Object.values(groups));
  const charts = includeCharts ? Object.fromEntries(top(groups, 20).map(([name, n]) => [name, `${'█'.repeat(Math.max(1, Math.round((n / most) * 20)))} ${n}`])) : {};
  const seconds = Math.max(0.001, duration(tracked) / 1000);
  return {
    distribution: { byCategory, bySource: Object.fromEntries(top(bySource, 20)), overTime },
    topN: {
      mostFrequentMessages: top(counted(outputs, (it) => it.text.trim()), 10).map(([message, count]) => ({ message, count })),
      noisiestFiles: top(bySource, 10).map(([file, count]) => ({ file, count })),
      exceptionHotspots: top(counted(tracked.exceptions, (it) => `${it.place.file}:${it.place.line}`), 5).map(([place, count]) => ({ place, count })),
    },
    averages: { eventsPerSecond: outputs.length / seconds, timeBetweenOutputs: outputs.length > 1 ? (outputs.at(-1).ts - outputs[0].ts) / (outputs.length - 1) : null, outputsPerSession: outputs.length },
    anomalies: [],
    charts,
    summary: `${outputs.length} outputs in ${seconds.toFixed(1)} s`,
  };
}

function summary(tracked, { compact }) {
  const { outputs, exceptions: thrown, exitCode } = tracked;
  const byCategory = counted(outputs, (it) => it.category);
  const answer = {
    session: { ...shownSession(tracked), duration: duration(tracked), status: tracked.endedAt ? 'ended' : tracked.isStopped ? 'stopped' : 'running' },
    counts: { totalOutputs: outputs.length, byCategory, exceptions: thrown.length, stoppedEvents: tracked.stops, breakpointHits: tracked.history.filter((it) => it.reason === 'breakpoint').length },
    metrics: { outputsPerSecond: outputs.length / Math.max(0.001, duration(tracked) / 1000) },
    health: {
      hasExceptions: thrown.length > 0, exceptionRate: thrown.length / Math.max(1, tracked.stops), errorRatio: (byCategory.stderr ?? 0) / Math.max(1, outputs.length),
      exitCode: exitCode ?? null, abnormalExit: exitCode !== undefined && exitCode !== 0, truncated: tracked.outputsDropped > 0,
    },
    samples: { first3: texts(outputs.slice(0, 3)), last3: texts(outputs.slice(-3)), lastException: thrown.at(-1)?.message ?? null },
  };
  if (compact) answer.summary = `${tracked.name}: ${answer.session.status}, ${outputs.length} outputs, ${tracked.stops} stops, ${thrown.length} exceptions`;
  return answer;
}

function compare(a, b, compareBy) {
  const shown = (it) => ({ ...shownSession(it), duration: duration(it), outputs: it.outputs.length, exceptions: it.exceptions.length, exitCode: it.exitCode ?? null });
  const messages = (it) => [...new Set(it.exceptions.map((one) => one.message))];
  const [ofA, ofB] = [messages(a), messages(b)];
  const comparison = {
    counts: {
      deltaOutputs: b.outputs.length - a.outputs.length, deltaExceptions: b.exceptions.length - a.exceptions.length, deltaStops: b.stops - a.stops,
      exitCodeA: a.exitCode ?? null, exitCodeB: b.exitCode ?? null, exitCodeChanged: a.exitCode !== b.exitCode,
    },
  };
  if (compareBy === 'exceptions') comparison.exceptions = { onlyInA: ofA.filter((it) => !ofB.includes(it)), onlyInB: ofB.filter((it) => !ofA.includes(it)), common: ofA.filter((it) => ofB.includes(it)) };
  if (compareBy === 'timeline') {
    const at = a.outputs.findIndex((it, index) => it.text !== b.outputs[index]?.text);
    const where = at >= 0 ? at : a.outputs.length < b.outputs.length ? a.outputs.length : -1;
    comparison.divergencePoint = where < 0 ? null : { index: where, a: a.outputs[where]?.text ?? null, b: b.outputs[where]?.text ?? null };
  }
  if (compareBy === 'outputs') comparison.outputBreakdown = { a: counted(a.outputs, (it) => it.category), b: counted(b.outputs, (it) => it.category) };
  return { comparison, sessionA: shown(a), sessionB: shown(b), compareBy };
}

module.exports = { logs, search, filter, exceptions, timeline, stats, summary, compare };
