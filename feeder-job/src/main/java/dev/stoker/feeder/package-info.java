/**
 * The Flink application that serves batches to the trainers of one training job: its graph and its entry point. Options
 * and plan are in {@link dev.stoker.feeder.plan}, the feed to a topic in {@link dev.stoker.feeder.topic}. This package
 * starts no threads.
 */
package dev.stoker.feeder;
