/**
 * From a command line to a {@link dev.stoker.feeder.plan.FeedPlan}: options, their checks, and what a plan opens in a
 * process. Runs on the machine that submits the job; only {@link dev.stoker.feeder.plan.FeedNodes} runs on the feeders.
 */
package dev.stoker.feeder.plan;
