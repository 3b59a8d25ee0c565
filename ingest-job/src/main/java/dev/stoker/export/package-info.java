/**
 * The export: writes the samples of a version as files of other systems. {@link dev.stoker.export.ExportOptions} are
 * the user's options, {@link dev.stoker.export.ExportPlan} is checked against dataset and target, {@link
 * dev.stoker.export.ExportGraph} is Flink's graph, {@link dev.stoker.export.ExportJob} prepares and launches.
 */
package dev.stoker.export;
