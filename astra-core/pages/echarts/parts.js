// What charts.js uses of Apache ECharts. Whatever is not named here stays out of
// the bundle.

import {
  BarChart, CustomChart, LineChart, PieChart, ScatterChart,
} from "echarts/charts";
import {
  DataZoomInsideComponent, GridComponent, LegendPlainComponent,
  MarkLineComponent, TooltipComponent,
} from "echarts/components";
import { init, use } from "echarts/core";
import { LabelLayout } from "echarts/features";
import { SVGRenderer } from "echarts/renderers";

use([
  BarChart, CustomChart, LineChart, PieChart, ScatterChart,
  DataZoomInsideComponent, GridComponent, LegendPlainComponent,
  MarkLineComponent, TooltipComponent, LabelLayout, SVGRenderer,
]);

export { init };
