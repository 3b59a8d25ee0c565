package dev.stoker.export.task;

/**
 * A shard is written and durable.
 *
 * @param shard its number in the plan
 * @param rows samples
 * @param excluded samples for which the condition was not true
 * @param files number of files
 * @param bytes of the files
 */
public record ShardReport(int shard, long rows, long excluded, long files, long bytes) {}
