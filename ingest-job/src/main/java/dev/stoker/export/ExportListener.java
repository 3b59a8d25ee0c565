package dev.stoker.export;

import java.util.List;

/** Receives the progress of an export, on the thread that called {@link ExportJob#run}. */
public interface ExportListener {
    /** Called before the export begins, with the plan as text. */
    default void started(List<String> plan) {}

    /** Reports progress, about twice a second. Called only if the job runs in this process. */
    default void progressed(ExportProgress progress) {}
}
